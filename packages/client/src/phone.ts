// Telephone numbers, and calls that are placed from them.
import type { BodyOf, QueryOf, Send } from "./Request.ts"

const numbers = "/v1/agent/phone-numbers"
const one = `${numbers}/:phone_number_id` as const
const available = "/v1/agent/available-phone-numbers"
const of = (phone_number_id: string) => ({ params: { phone_number_id } })

/** The telephone requests of a client. */
export const phoneOf = (send: Send) => ({
  list: (query: QueryOf<`GET ${typeof numbers}`> = {}) => send(`GET ${numbers}`, { query }),
  /** Imports a number of one's own carrier, or buys one of the inventory. */
  create: (body: BodyOf<`POST ${typeof numbers}`>) => send(`POST ${numbers}`, { body }),
  get: (id: string) => send(`GET ${one}`, of(id)),
  update: (id: string, body: BodyOf<`PATCH ${typeof one}`>) => send(`PATCH ${one}`, { ...of(id), body }),
  /** An imported number's trunk anew; a password that is left out stays beside its user name. */
  configure: (id: string, body: BodyOf<`PUT ${typeof one}/sip-config`>) =>
    send(`PUT ${one}/sip-config`, { ...of(id), body }),
  release: (id: string) => send(`DELETE ${one}`, of(id)),
  /** What can be bought. */
  available: (query: QueryOf<`GET ${typeof available}`> = {}) => send(`GET ${available}`, { query }),
  /** Answers before it rings. With the same key again within a day it is the same call. */
  call: (body: BodyOf<"POST /v1/agent/phone-calls">, idempotencyKey?: string) =>
    send("POST /v1/agent/phone-calls", {
      body,
      headers: idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
    })
})
