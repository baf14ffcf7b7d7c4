// Bearer keys of the main API: who calls is one workspace, by a key that may do some things.
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import type { KeyScope } from "../ApiKey.ts"
import { Forbidden, TooManyRequests, Unauthorized } from "../Errors.ts"

/** Which key called, its workspace, and what the key may do. */
export interface Principal {
  readonly workspaceId: string
  readonly keyId: string
  readonly scopes: ReadonlyArray<KeyScope>
  /** Null for a key that never expires. */
  readonly expiresAt: Date | null
}

/** The principal of the request at hand. */
export class Caller extends Context.Service<Caller, Principal>()("@parley/contract/Caller") {}

/** Who calls an endpoint that is open to visitors of a public agent, too. */
export class Visitor extends Context.Service<
  Visitor,
  {
    /** Undefined without a key. */
    readonly principal: Principal | undefined
  }
>()("@parley/contract/Visitor") {}

/** With a valid key its workspace, without any a visitor, whose requests are few and small; a bad key or scope fails. */
export class VisitorAuthorization extends HttpApiMiddleware.Service<VisitorAuthorization, { provides: Visitor }>()(
  "parley/contract/VisitorAuthorization",
  { error: [TooManyRequests, Unauthorized, Forbidden], security: { bearer: HttpApiSecurity.bearer } }
) {}

/** 401 without a valid key, 403 beyond its scopes, 429 after many bad keys. */
export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Caller }>()(
  "parley/contract/Authorization",
  { error: [TooManyRequests, Unauthorized, Forbidden], security: { bearer: HttpApiSecurity.bearer } }
) {}
