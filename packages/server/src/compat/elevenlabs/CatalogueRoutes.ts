// The catalogue of the ElevenLabs-compatible API: the caller's voices, the models, the user. The official SDKs refuse records
// with a required field missing, so every one of them is there.
import { ttsModels } from "@parley/contract/speech/TtsRequest"
import { Billing } from "@parley/workspace/billing/Billing"
import type { OwnVoice } from "@parley/workspace/voices/VoiceModelLists"
import { VoiceModels } from "@parley/workspace/voices/VoiceModels"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Settings } from "../../Settings.ts"
import { callerOf } from "./caller.ts"
import { invalidRequest, ElevenLabsFault, withEnvelope } from "./Envelope.ts"
import { root } from "./root.ts"
import { KeyCheck } from "../../http/KeyCheck.ts"

/** Largest page, and what one list shows at most. */
const largestPage = 100
const longestList = 10_000

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const keys = yield* KeyCheck
    const models = yield* VoiceModels
    const billing = yield* Billing
    const { vendor } = yield* Settings

    const caller = Effect.gen(function* () {
      const { headers, url } = yield* HttpServerRequest.HttpServerRequest
      const { workspaceId } = yield* callerOf(keys, headers["xi-api-key"])
      return { workspaceId, query: new URL(url, "http://localhost").searchParams }
    })

    const listAll = Effect.gen(function* () {
      const { workspaceId } = yield* caller
      const { voices } = yield* models.ownPage(workspaceId, { page: 1, size: longestList })
      return HttpServerResponse.jsonUnsafe({ voices: voices.map(voiceOf) })
    })

    const search = Effect.gen(function* () {
      const { query, workspaceId } = yield* caller
      const size = Number(query.get("page_size") ?? 10)
      const page = Number(query.get("next_page_token") || 1)
      if (!Number.isInteger(size) || size < 1 || size > largestPage) {
        return yield* invalidRequest(`page_size must be from 1 to ${largestPage}`)
      }
      if (!Number.isInteger(page) || page < 1) return yield* invalidRequest("next_page_token is not one of ours")
      const none = (query.get("category") ?? "cloned") !== "cloned"
      const found = none
        ? { voices: [], total: 0 }
        : yield* models.ownPage(workspaceId, { page, size, search: query.get("search") ?? undefined })
      const hasMore = page * size < found.total
      return HttpServerResponse.jsonUnsafe({
        voices: found.voices.map(voiceOf),
        has_more: hasMore,
        total_count: found.total,
        next_page_token: hasMore ? String(page + 1) : null
      })
    })

    const one = Effect.gen(function* () {
      const { workspaceId } = yield* caller
      const { voice_id = "" } = yield* HttpRouter.params
      const { voices } = yield* models.ownPage(workspaceId, { page: 1, size: 1, id: voice_id })
      return voices[0] === undefined ? yield* noVoice : HttpServerResponse.jsonUnsafe(voiceOf(voices[0]))
    })

    const catalogue = Effect.as(
      caller,
      HttpServerResponse.jsonUnsafe(
        ttsModels.map((model) => ({
          model_id: `${vendor}-audio/${model}`,
          name: model,
          description: "",
          can_be_finetuned: false,
          can_do_text_to_speech: true,
          can_do_voice_conversion: false,
          can_use_style: false,
          can_use_speaker_boost: false,
          serves_pro_voices: false,
          token_cost_factor: model.endsWith("-free") ? 0 : 1,
          requires_alpha_access: false,
          languages: [{ language_id: "en", name: "English" }]
        }))
      )
    )

    const user = Effect.gen(function* () {
      const { workspaceId } = yield* caller
      const account = yield* billing.account(workspaceId)
      const { total } = yield* models.ownPage(workspaceId, { page: 1, size: 1 })
      return HttpServerResponse.jsonUnsafe(userOf(workspaceId, account.createdAt, total))
    })

    return Layer.mergeAll(
      HttpRouter.add("GET", `${root}/v1/voices`, withEnvelope(listAll)),
      HttpRouter.add("GET", `${root}/v2/voices`, withEnvelope(search)),
      HttpRouter.add("GET", `${root}/v1/voices/:voice_id`, withEnvelope(one)),
      HttpRouter.add("GET", `${root}/v1/models`, withEnvelope(catalogue)),
      HttpRouter.add("GET", `${root}/v1/user`, withEnvelope(user)),
      HttpRouter.add("*", `${root}/*`, withEnvelope(Effect.fail(noPath)))
    )
  })
)

const noVoice = new ElevenLabsFault({ http: 404, status: "voice_not_found", message: "Voice not found" })
const noPath = new ElevenLabsFault({ http: 404, status: "not_found", message: "Not found" })

const voiceOf = (voice: OwnVoice) => ({
  voice_id: voice.id,
  name: voice.title,
  category: "cloned",
  labels: Object.fromEntries(voice.tags.map((tag) => [tag, tag])),
  samples: null,
  description: voice.description,
  preview_url: null,
  available_for_tiers: [],
  settings: null,
  created_at_unix: unix(voice.createdAt)
})

/** A stub: characters and slots mean nothing here and are never used up. */
const userOf = (workspaceId: string, createdAt: Date, voices: number) => ({
  user_id: workspaceId,
  workspace_id: workspaceId,
  is_new_user: false,
  can_use_delayed_payment_methods: false,
  is_onboarding_completed: true,
  is_onboarding_checklist_completed: true,
  created_at: unix(createdAt),
  seat_type: "workspace_admin",
  xi_api_key: null,
  first_name: null,
  subscription: {
    tier: "self_hosted",
    status: "active",
    character_count: 0,
    character_limit: 1_000_000_000,
    max_credit_limit_extension: "unlimited",
    can_extend_character_limit: true,
    allowed_to_extend_character_limit: true,
    voice_slots_used: voices,
    professional_voice_slots_used: 0,
    professional_voice_slots_used_in_workspace: 0,
    voice_limit: longestList,
    voice_add_edit_counter: 0,
    professional_voice_limit: 0,
    can_extend_voice_limit: true,
    can_use_instant_voice_cloning: true,
    can_use_professional_voice_cloning: false,
    current_overage: { amount: "0", currency: "usd" }
  }
})

const unix = (date: Date): number => Math.floor(date.getTime() / 1000)
