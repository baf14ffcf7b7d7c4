// Bearer keys of the main API (spec: Authentication 1): who calls is one workspace.
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { Unauthorized } from "../Errors.ts"

export interface Principal {
  readonly workspaceId: string
  readonly keyId: string
}

export class Caller extends Context.Service<Caller, Principal>()("@parley/contract/Caller") {}

/** Who knocks at a door that is open to visitors of a public agent too. */
export class Visitor extends Context.Service<
  Visitor,
  {
    /** Undefined without a key. */
    readonly principal: Principal | undefined
  }
>()("@parley/contract/Visitor") {}

/** A key is taken, a bad one is refused, none is a visitor. */
export class VisitorAuthorization extends HttpApiMiddleware.Service<VisitorAuthorization, { provides: Visitor }>()(
  "parley/contract/VisitorAuthorization",
  { error: Unauthorized, security: { bearer: HttpApiSecurity.bearer } }
) {}

export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Caller }>()(
  "parley/contract/Authorization",
  { error: Unauthorized, security: { bearer: HttpApiSecurity.bearer } }
) {}
