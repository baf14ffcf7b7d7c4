// Makes the plan of a call: looks the voice up, asks MCP servers for their tools, opens what is sealed.
import type { CallPlan } from "@parley/engine/CallPlan"
import type { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import type { ClaimedSession } from "@parley/workspace/sessions/PreparedSession"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Context, Effect, Layer } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { VoiceChoice } from "../speech/VoiceChoice.ts"
import { mcpListing } from "../tools/McpTools.ts"
import { type ExtraBody, planFor } from "./callPlan.ts"

/** Plans of calls. */
export class CallPlans extends Context.Service<
  CallPlans,
  {
    /**
     * Does not fail: a voice that was removed is replaced by the default one, an MCP server that does not answer is listed as
     * missing.
     *
     * @param extraBody the session's `llm_extra_body`, which is never stored.
     */
    readonly planFor: (session: ClaimedSession, extraBody?: ExtraBody) => Effect.Effect<CallPlan>
  }
>()("@parley/app/CallPlans") {
  static readonly layer: Layer.Layer<CallPlans, never, Secrets | SafeHttp | AppSettings | VoiceChoice> = Layer.effect(
    CallPlans,
    Effect.gen(function* () {
      const secrets = yield* Secrets
      const { vendor } = yield* AppSettings
      const voices = yield* VoiceChoice
      const listTools = yield* mcpListing
      return {
        planFor: Effect.fnUntraced(function* (session, extraBody) {
          const { config, row } = session
          const finding = voices
            .find(row.workspace_id, row.request.overrides.voice_id ?? config.voice.voice_id)
            // A voice model that was removed since: the call is held in the default voice.
            .pipe(Effect.orElseSucceed(() => ({ id: "" })))
          const servers = config.tools.enabled ? session.mcpServers : []
          const [voice, mcp] = yield* Effect.all([finding, listTools(servers, secrets.of)], { concurrency: 2 })
          return planFor(session, { secretsOf: secrets.of, vendor, voice, extraBody, mcp, now: new Date() })
        })
      }
    })
  )
}
