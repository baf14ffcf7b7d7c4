// From the name a caller gives to a voice that speaks: a voice model of the workspace's own or shared by its link,
// or one of the platform's own voices.
import { BadRequest } from "@parley/contract/Errors"
import type { SpokenVoice } from "@parley/speech/Synthesis"
import { Platform } from "@parley/workspace/Platform"
import { VoiceModels } from "@parley/workspace/voices/VoiceModels"
import { Context, Effect, Layer } from "effect"

/** Voices by the names that callers give. */
export class VoiceChoice extends Context.Service<
  VoiceChoice,
  {
    /** `""` and `default` name the engine's own default. Fails for what the workspace may not use as for what is not there. */
    readonly find: (workspaceId: string, id: string) => Effect.Effect<SpokenVoice, BadRequest>
    /** Counts one more use of these voice models; platform voices are not counted. */
    readonly used: (ids: ReadonlyArray<string>) => Effect.Effect<void>
  }
>()("@parley/app/VoiceChoice") {
  static readonly layer: Layer.Layer<VoiceChoice, never, Platform | VoiceModels> = Layer.effect(
    VoiceChoice,
    Effect.gen(function* () {
      const platform = yield* Platform
      const models = yield* VoiceModels
      const isPlatform = (id: string) => id === "" || id === "default" || platform.voices.has(id)
      return {
        find: Effect.fnUntraced(function* (workspaceId, id) {
          if (isPlatform(id)) return { id: id === "default" ? "" : id }
          const model = yield* models.find(workspaceId, id)
          if (model === undefined) return yield* new BadRequest({ message: "Reference not found" })
          return { id: "", character: models.character(model) }
        }),
        used: (ids) =>
          Effect.forEach(
            ids.filter((id) => !isPlatform(id)),
            models.used,
            { discard: true }
          )
      }
    })
  )
}
