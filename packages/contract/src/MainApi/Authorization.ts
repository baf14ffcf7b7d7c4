// Bearer keys of the main API (spec: Authentication 1): who calls is one workspace.
import { Context } from "effect"
import { HttpApiMiddleware, HttpApiSecurity } from "effect/http-api"
import { Unauthorized } from "../Errors.ts"

export interface Principal {
  readonly workspaceId: string
  readonly keyId: string
}

export class Caller extends Context.Service<Caller, Principal>()("parley/contract/Caller") {}

export class Authorization extends HttpApiMiddleware.Service<Authorization, { provides: Caller }>()(
  "parley/contract/Authorization",
  { error: Unauthorized, security: { bearer: HttpApiSecurity.bearer } }
) {}
