// The audit log over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { AuditLog } from "@parley/workspace/identity/AuditLog"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"

export const layer = HttpApiBuilder.group(
  MainApi,
  "auditLog",
  Effect.fnUntraced(function* (handlers) {
    const log = yield* AuditLog
    return handlers.handleAll({
      listAuditEntries: Effect.fnUntraced(function* ({ query }) {
        const { items, ...page } = yield* log.list((yield* Caller).workspaceId, query)
        return { audit_entries: items, ...page }
      })
    })
  })
)
