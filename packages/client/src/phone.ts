// Telephone numbers, and calls that are placed from them.
import type { PhoneCallCreate, PhoneCallQueued } from "@parley/contract/PhoneCall"
import type {
  AvailableNumbers,
  PhoneNumber,
  PhoneNumberCreate,
  PhoneNumberPage,
  PhoneNumberPatch,
  SipConfigPut
} from "@parley/contract/PhoneNumber"
import { path, type Query, search } from "./path.ts"

type Request = <A>(
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>
) => Promise<A>

/** The telephone requests of a client. */
export const phoneOf = (request: Request) => ({
  list: (query: Query = {}): Promise<typeof PhoneNumberPage.Type> =>
    request("GET", `/v1/agent/phone-numbers${search(query)}`),
  /** Imports a number of one's own carrier, or buys one of the inventory. */
  create: (body: typeof PhoneNumberCreate.Encoded): Promise<PhoneNumber> =>
    request("POST", "/v1/agent/phone-numbers", body),
  get: (id: string): Promise<PhoneNumber> => request("GET", path`/v1/agent/phone-numbers/${id}`),
  update: (id: string, patch: typeof PhoneNumberPatch.Encoded): Promise<PhoneNumber> =>
    request("PATCH", path`/v1/agent/phone-numbers/${id}`, patch),
  /** An imported number's trunk anew; a password that is left out stays beside its user name. */
  configure: (id: string, trunk: typeof SipConfigPut.Encoded): Promise<PhoneNumber> =>
    request("PUT", path`/v1/agent/phone-numbers/${id}/sip-config`, trunk),
  release: (id: string): Promise<void> => request("DELETE", path`/v1/agent/phone-numbers/${id}`),
  /** What can be bought. */
  available: (query: Query = {}): Promise<typeof AvailableNumbers.Type> =>
    request("GET", `/v1/agent/available-phone-numbers${search(query)}`),
  /** Answers before it rings. With the same key again within a day it is the same call. */
  call: (body: typeof PhoneCallCreate.Encoded, idempotencyKey?: string): Promise<PhoneCallQueued> =>
    request(
      "POST",
      "/v1/agent/phone-calls",
      body,
      idempotencyKey === undefined ? {} : { "idempotency-key": idempotencyKey }
    )
})
