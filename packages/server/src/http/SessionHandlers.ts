// Sessions over HTTP: translation only.
import { Caller } from "@parley/contract/MainApi/Authorization"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Sessions } from "@parley/workspace/sessions/Sessions"
import { Erasure } from "@parley/workspace/Erasure"
import { Analyses } from "@parley/workspace/analysis/Analyses"
import { SipTraces } from "@parley/workspace/phone/SipTraces"
import type { SipTraceLine as Line } from "@parley/transport/phone/Phone"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { SessionRequests } from "@parley/app/sessions/SessionRequests"
import { sessionRecording } from "./RecordingHandlers.ts"

export const layer = HttpApiBuilder.group(
  MainApi,
  "sessions",
  Effect.fnUntraced(function* (handlers) {
    const sessions = yield* Sessions
    const sessionRequests = yield* SessionRequests
    const workspace = Effect.map(Caller, ({ workspaceId }) => workspaceId)

    const analyses = yield* Analyses
    const erasure = yield* Erasure
    const sipTraces = yield* SipTraces
    const recordingOf = yield* sessionRecording

    return handlers.handleAll({
      listSessions: ({ query }) =>
        Effect.flatMap(workspace, (ws) => sessions.list(ws, query)).pipe(
          Effect.map(({ items, ...page }) => ({ sessions: items, ...page }))
        ),
      getSession: ({ params }) => Effect.flatMap(workspace, (ws) => sessions.get(ws, params.session_id)),
      analyseSessionAgain: ({ params }) => Effect.flatMap(workspace, (ws) => analyses.again(ws, params.session_id)),
      getSessionJournal: ({ params }) =>
        Effect.flatMap(workspace, (ws) => sessions.journal(ws, params.session_id)).pipe(
          Effect.map((entries) => ({ session_id: params.session_id, entries }))
        ),
      getSessionRecording: ({ params }) => Effect.flatMap(workspace, (ws) => recordingOf(ws, params.session_id)),
      getSessionSipTrace: ({ params }) =>
        Effect.flatMap(workspace, (ws) => sipTraces.of(ws, params.session_id)).pipe(
          Effect.map((lines) => ({ session_id: params.session_id, lines: lines.map(lineOf) }))
        ),
      eraseSession: ({ params }) => Effect.flatMap(workspace, (ws) => erasure.session(ws, params.session_id)),
      endSession: ({ params }) => Effect.flatMap(workspace, (ws) => sessionRequests.end(ws, params.session_id))
    })
  })
)

/** As it was kept when the call ended. */
const lineOf = (stored: unknown) => {
  const { atMs, detail, direction, what } = stored as Line
  return { at_ms: atMs, direction, what, detail }
}
