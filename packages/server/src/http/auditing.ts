// Writes the audit log: after each change by the management API, whatever the operation, one entry with its id and the record's.
// The change has happened by then: an entry that cannot be written is an error in the log, not the answer.
import type { Principal } from "@parley/contract/MainApi/Authorization"
import type { AuditedChange, AuditLog } from "@parley/workspace/identity/AuditLog"
import { Effect } from "effect"
import { HttpRouter, type HttpServerResponse } from "effect/http"
import { operationScope } from "./operationScope.ts"

/** An operation as the contract names it. */
export interface Operation {
  readonly group: { readonly identifier: string }
  readonly endpoint: { readonly identifier: string; readonly method: string }
}

/** The route of an operation; it is logged where it changes what is set up. */
export const audited = <E, R>(
  log: AuditLog["Service"],
  { endpoint, group }: Operation,
  caller: Principal,
  route: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R | HttpRouter.RouteContext> => {
  if (endpoint.method === "GET" || operationScope(group, endpoint) !== "manage") return route
  const action = `${group.identifier}.${endpoint.identifier}`
  const record = Effect.fnUntraced(function* (response: HttpServerResponse.HttpServerResponse) {
    if (response.status >= 400) return
    const resource = resourceOf(yield* HttpRouter.params, response)
    yield* log
      .record(caller, { action, resource })
      .pipe(Effect.catchCause((cause) => Effect.logError(`No audit entry for ${action}`, cause)))
  })
  // A caller that is gone cannot keep a change out of the log.
  return Effect.uninterruptibleMask((restore) => Effect.tap(restore(route), record))
}

/** The record that was made, by the answer's own id; else the last one that the path names. */
const resourceOf = (
  params: Readonly<Record<string, string | undefined>>,
  response: HttpServerResponse.HttpServerResponse
): AuditedChange["resource"] => {
  const [name, id] = (response.status === 201 ? idIn(fieldsOf(response)) : undefined) ?? idIn(params, "last") ?? []
  return name === undefined || id === undefined ? undefined : { type: typeOf(name), id }
}

/** The first or last field that is named as an id. */
const idIn = (
  fields: Readonly<Record<string, unknown>>,
  which: "first" | "last" = "first"
): readonly [name: string, id: string] | undefined => {
  const ids = Object.entries(fields).flatMap(([name, value]) =>
    // Who was erased is not remembered here.
    name.endsWith("_id") && name !== "end_user_id" && typeof value === "string" ? [[name, value] as const] : []
  )
  return which === "first" ? ids[0] : ids.at(-1)
}

/** Of an answer in JSON. */
const fieldsOf = ({ body }: HttpServerResponse.HttpServerResponse): Readonly<Record<string, unknown>> => {
  if (body._tag !== "Uint8Array") return {}
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body.body))
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** `agent_id`: `agent`. A voice model's own id has no name, and a path calls a knowledge source a source. */
const typeOf = (name: string): string => {
  const noun = name.replace(/_?id$/, "")
  return noun === "" ? "model" : noun === "source" ? "knowledge_source" : noun
}
