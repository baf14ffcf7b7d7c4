// Who changed what in the caller's workspace. Entries are kept for 400 days.
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { AuditPage } from "../AuditEntry.ts"
import { BadRequest } from "../Errors.ts"
import { PageQuery } from "../Page.ts"
import { Authorization } from "./Authorization.ts"
import { Validation } from "./Validation.ts"

/** Endpoints of the audit log. */
export class AuditLogApi extends HttpApiGroup.make("auditLog")
  .add(
    HttpApiEndpoint.get("listAuditEntries", "/v1/audit-log", {
      query: PageQuery,
      success: AuditPage,
      error: BadRequest
    })
  )
  .middleware(Validation)
  .middleware(Authorization)
  .annotateMerge(OpenApi.annotations({ title: "Audit log" })) {}
