// Requests of the main API as the contract's `MainApi` describes them: a route such as `GET /v1/agent/agents/:agent_id`
// picks an endpoint, and the endpoint gives the types of path values, query, headers, body and answer. Types only: with
// `HttpApiClient` every page would load the schemas of the whole contract (500 KB with Effect's runtime, 160 KB gzipped),
// and a body would have to carry all its defaults, which are the service's to fill in.
import type { MainApi } from "@parley/contract/MainApi/MainApi"
import type { Brand, Schema } from "effect"
import type { HttpApi, HttpApiGroup, HttpApiSchema } from "effect/http-api"

type Groups = typeof MainApi extends HttpApi.HttpApi<infer _Id, infer All> ? All : never

type WithoutSlash<Path extends string> = Path extends `${infer Head}/` ? Head : Path

/** The endpoints of the contract by method and path. */
type Endpoints = {
  readonly [E in HttpApiGroup.Endpoints<Groups> as `${E["method"]} ${WithoutSlash<E["path"]>}`]: E
}

/** Method and path of an endpoint, as the contract writes them; a path that it does not know is no Route. */
export type Route = keyof Endpoints

/** A body as it is sent: JSON before the service fills in its defaults, or a form. */
type Body<Payload> =
  Payload extends Schema.toCodecJson<infer S>
    ? BodyOfSchema<S>
    : Payload extends Schema.Constraint
      ? BodyOfSchema<Payload>
      : never
type BodyOfSchema<S> = S extends Schema.Constraint
  ? S["Type"] extends Brand.Brand<HttpApiSchema.MultipartTypeId>
    ? FormData
    : S["Encoded"]
  : never

type Required<Key extends string, Value> = [Value] extends [never] ? unknown : { readonly [K in Key]: Value }
type Optional<Key extends string, Value> = [Value] extends [never] ? unknown : { readonly [K in Key]?: Value }
type OrUndefined<Value> = [Value] extends [never] ? never : { readonly [K in keyof Value]?: Value[K] | undefined }

/** The query of a route; undefined values are left out. */
export type QueryOf<R extends Route> = OrUndefined<Endpoints[R]["~Query"]["Type"]>

/** The body of a route. */
export type BodyOf<R extends Route> = Exclude<
  Endpoints[R]["~Payload"] extends infer P ? (P extends unknown ? Body<P> : never) : never,
  null
>

/** The parts of a request. */
export type RequestOf<R extends Route> = Required<"params", Endpoints[R]["~Params"]["Type"]> &
  Optional<"query", QueryOf<R>> &
  Optional<"body", BodyOf<R>> &
  Optional<"headers", Endpoints[R]["~Headers"]["Type"]>

/** What the service answers with; undefined for 204. */
export type AnswerOf<R extends Route> = Endpoints[R]["~Success"]["Type"]

/** Sends a request and reads the answer. Rejects with a `ParleyError`. */
export type Send = <R extends Route>(route: R, request: RequestOf<R>) => Promise<AnswerOf<R>>

/** The parts of any request, as `urlOf` and `fetch` need them. */
export interface RequestParts {
  readonly params?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string | undefined>>
}

/** Method and address of a request; values of the path and of the query are percent-encoded. */
export const addressOf = (route: Route, { params = {}, query = {} }: RequestParts): readonly [string, string] => {
  const [method = "", path = ""] = route.split(" ")
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""))
  const given = Object.entries(query).flatMap(([key, value]): ReadonlyArray<[string, string]> =>
    value === undefined ? [] : [[key, String(value)]]
  )
  return [method, given.length === 0 ? filled : `${filled}?${new URLSearchParams(given)}`]
}
