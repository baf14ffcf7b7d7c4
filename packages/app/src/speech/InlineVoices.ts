// Recordings that come with a request: a voice for this request alone. The same recording is looked at once while it
// is remembered; its sound lies in a temporary folder that goes with the request.
import type { BadRequest } from "@parley/contract/Errors"
import type { SpokenVoice } from "@parley/speech/Synthesis"
import { UploadedAudio, type VoiceExamination } from "@parley/speech/upload/UploadedAudio"
import { Context, Effect, FileSystem, Layer, type Scope } from "effect"
import { createHash } from "node:crypto"
import { join } from "node:path"
import { audioError } from "./requestErrors.ts"

/** A recording in any format that uploads may have, and the words said in it. */
export interface SentReference {
  readonly audio: Uint8Array
  readonly text: string
}

/** Voices made of recordings that come with a request. */
export class InlineVoices extends Context.Service<
  InlineVoices,
  {
    /** Usable until the scope closes. Fails when one cannot be used. */
    readonly voiceOf: (references: ReadonlyArray<SentReference>) => Effect.Effect<SpokenVoice, BadRequest, Scope.Scope>
  }
>()("@parley/app/InlineVoices") {
  static readonly layer: Layer.Layer<InlineVoices, never, FileSystem.FileSystem | UploadedAudio> = Layer.effect(
    InlineVoices,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const uploads = yield* UploadedAudio
      const known = new Map<string, VoiceExamination>()

      const remember = (id: string, examination: VoiceExamination): void => {
        if (known.size >= rememberedVoices) known.delete(known.keys().next().value ?? "")
        known.set(id, examination)
      }

      const examine = Effect.fnUntraced(function* (file: string, which: string) {
        return yield* Effect.mapError(uploads.examine(file), (fault) => audioError(fault, which))
      })

      return {
        voiceOf: Effect.fn("tts.reference_encode")(function* (references) {
          const id = digestOf(references)
          const folder = yield* Effect.orDie(files.makeTempDirectoryScoped({ prefix: "parley-voice-" }))
          const kept = yield* Effect.forEach(references, ({ audio, text }, i) =>
            Effect.gen(function* () {
              const sent = join(folder, `${i}.sent`)
              const wav = join(folder, `${i}.wav`)
              yield* Effect.orDie(files.writeFile(sent, audio))
              const which = `references.${i}.audio`
              yield* Effect.mapError(uploads.toWav(sent, wav), (fault) => audioError(fault, which))
              return { file: wav, text }
            })
          )
          const best = references.reduce(
            (most, one, i) => (one.audio.length > references[most]!.audio.length ? i : most),
            0
          )
          const examination = known.get(id) ?? (yield* examine(kept[best]!.file, `references.${best}.audio`))
          remember(id, examination)
          return { id: "", character: { id, references: kept, profile: examination.profile } }
        })
      }
    })
  )
}

const rememberedVoices = 64

const digestOf = (references: ReadonlyArray<SentReference>): string => {
  const hash = createHash("sha256")
  for (const { audio, text } of references) hash.update(`${audio.length}:${text.length}:`).update(audio).update(text)
  return hash.digest("hex")
}
