// Sessions are made and ended: checks what only the running service can check (published version, allowed overrides, known
// voices), writes the record and hands out the ticket to join with.
import type { BadRequest, Conflict, Invalid, NotFound, PaymentRequired } from "@parley/contract/Errors"
import type { SessionTicket } from "@parley/contract/Session"
import { type PreviewCreate, readVariables, type SessionCreate } from "@parley/contract/SessionRequest"
import { resolveTimezone } from "@parley/contract/Timezone"
import { Billing } from "@parley/workspace/billing/Billing"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { Sessions } from "@parley/workspace/sessions/Sessions"
import { type Runnable, Versions } from "@parley/workspace/agents/Versions"
import { Context, Effect, Layer } from "effect"
import { JoinTokens } from "../calls/inbound/JoinTokens.ts"
import { Calls } from "../calls/Calls.ts"
import { VoiceChoice } from "../speech/VoiceChoice.ts"
import { checkOverrides } from "../plan/checkOverrides.ts"

/** Previews run at most this long, s. */
const previewSeconds = 600

/** Sessions on behalf of callers of the API and of visitors. */
export class SessionRequests extends Context.Service<
  SessionRequests,
  {
    /**
     * A pending session of the published version. Fails with 404, 409 when nothing is published, 400 for an override that is
     * not allowed, 422, 402.
     *
     * @param rtcUrl where media signalling is for this caller.
     */
    readonly open: (
      workspace: string,
      request: SessionCreate,
      rtcUrl: string,
      source?: "api_key" | "public"
    ) => Effect.Effect<SessionTicket, NotFound | Conflict | BadRequest | Invalid | PaymentRequired>
    /** A session of the draft: at most 600 s, without webhooks and history. Charged as any. Fails with 402 too. */
    readonly preview: (
      workspace: string,
      agentId: string,
      request: PreviewCreate,
      rtcUrl: string
    ) => Effect.Effect<SessionTicket, NotFound | BadRequest | Invalid | PaymentRequired>
    /** Ends the call, or cancels a session nobody joined. Idempotent. */
    readonly end: (workspace: string, sessionId: string) => Effect.Effect<void, NotFound>
  }
>()("@parley/app/SessionRequests") {
  static readonly layer: Layer.Layer<
    SessionRequests,
    never,
    JoinTokens | Billing | Calls | SessionLife | Sessions | Versions | VoiceChoice
  > = Layer.effect(
    SessionRequests,
    Effect.gen(function* () {
      const versions = yield* Versions
      const sessions = yield* Sessions
      const life = yield* SessionLife
      const voices = yield* VoiceChoice
      const tokens = yield* JoinTokens
      const calls = yield* Calls
      const billing = yield* Billing

      const make = Effect.fnUntraced(function* (
        workspace: string,
        runnable: Runnable,
        request: PreviewCreate & Pick<SessionCreate, "name" | "metadata">,
        rtcUrl: string,
        source: "api_key" | "public" | "dashboard"
      ) {
        const overrides = request.overrides ?? {}
        yield* checkOverrides(workspace, overrides, runnable, voices)
        const preview = runnable.versionNumber === null
        const longest = runnable.config.conversation.max_duration_seconds
        const row = yield* sessions.create({
          workspaceId: workspace,
          runnable,
          preview,
          source,
          name: request.name ?? "",
          timezone: resolveTimezone({
            request: request.timezone ?? undefined,
            agent: runnable.config.conversation.timezone,
            client: typeof request.client_timezone === "string" ? request.client_timezone : undefined
          }),
          endUserId: request.end_user_id ?? "",
          metadata: request.metadata ?? {},
          input: {
            overrides,
            dynamicVariables: readVariables(request.dynamic_variables ?? {}),
            worldContext: request.world_context ?? true,
            toolEvents: request.tool_events ?? true,
            recordAudio: request.record_audio ?? runnable.config.conversation.record_audio
          },
          maxDurationSeconds: preview ? Math.min(previewSeconds, longest) : longest
        })
        if (request.llm_extra_body) calls.expect(row.id, request.llm_extra_body)
        const ticket: SessionTicket = {
          session_id: row.id,
          expires_at: row.expires_at.toISOString(),
          max_duration_seconds: row.max_duration_seconds,
          transport: "livekit",
          rtc_url: rtcUrl,
          livekit_url: rtcUrl,
          token: yield* tokens.mint({
            sessionId: row.id,
            identity: row.id.replace("session", "user"),
            expiresAt: Math.floor(row.expires_at.getTime() / 1000)
          })
        }
        return ticket
      })

      return {
        open: Effect.fnUntraced(function* (workspace, request, rtcUrl, source = "api_key") {
          const runnable = yield* versions.live(workspace, request.agent_id)
          yield* billing.admit(workspace, { kind: "agent", model: "" })
          return yield* make(workspace, runnable, request, rtcUrl, source)
        }),

        preview: Effect.fn("SessionRequests.preview")(function* (workspace, agentId, request, rtcUrl) {
          const runnable = yield* versions.draft(workspace, agentId)
          yield* billing.admit(workspace, { kind: "agent", model: "" })
          return yield* make(workspace, runnable, request, rtcUrl, "dashboard")
        }),

        end: Effect.fn("SessionRequests.end")(function* (workspace, sessionId) {
          const row = yield* sessions.find(workspace, sessionId)
          if (row.status === "completed" || row.status === "failed") return
          if (yield* calls.end(sessionId)) return
          if (yield* life.settle(sessionId, "cancelled", "pending")) return
          yield* life.settle(sessionId, "agent_hangup", "active")
        })
      }
    })
  )
}
