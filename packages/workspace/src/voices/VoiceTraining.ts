// From recordings to a voice model (spec: POST /model). Every recording is examined before any is kept; a model that
// is not made leaves nothing behind. What is said in a recording is recognised where it was not sent: that has a
// bound for all of them together, and knowing nothing is no failure.
import { BadRequest, type Invalid } from "@parley/contract/Errors"
import type { ModelQuality, VoiceModel, VoiceModelCreate } from "@parley/contract/VoiceModel"
import type { VoiceCharacter } from "@parley/speech/ports/VoiceCharacter"
import { Recognition } from "@parley/speech/Recognition"
import { Synthesis } from "@parley/speech/Synthesis"
import { type AudioFault, UploadedAudio, type VoiceExamination } from "@parley/speech/upload/UploadedAudio"
import { Clock, Context, Effect, Exit, Layer } from "effect"
import { Blobs } from "../storage/Blobs.ts"
import { DesignSignatures } from "./DesignSignatures.ts"
import { Platform } from "../Platform.ts"
import { keepCover } from "./VoiceCover.ts"
import { keepSample } from "./VoiceSample.ts"
import { signaturesOf, tagsOf, textsOf } from "./voiceFields.ts"
import { VoiceModels } from "./VoiceModels.ts"

/** A recording as it came. */
export interface Recording {
  /** The sender's name for it. */
  readonly filename: string
  /** Path of the bytes. */
  readonly file: string
}

/** At least one recording. */
export type Recordings = readonly [Recording, ...ReadonlyArray<Recording>]

export class VoiceTraining extends Context.Service<
  VoiceTraining,
  {
    /** `cover`: path of an image. Fails with what is wrong with which recording. */
    readonly create: (
      workspace: string,
      fields: VoiceModelCreate,
      recordings: Recordings,
      cover: string | undefined
    ) => Effect.Effect<VoiceModel, BadRequest | Invalid>
  }
>()("@parley/workspace/VoiceTraining") {
  static readonly layer: Layer.Layer<
    VoiceTraining,
    never,
    Blobs | DesignSignatures | Platform | Recognition | Synthesis | UploadedAudio | VoiceModels
  > = Layer.effect(
    VoiceTraining,
    Effect.gen(function* () {
      const audio = yield* UploadedAudio
      const blobs = yield* Blobs
      const models = yield* VoiceModels
      const platform = yield* Platform
      const recognition = yield* Recognition
      const signatures = yield* DesignSignatures
      const synthesis = yield* Synthesis

      /** Removed again unless the model is made. */
      const kept = (file: string) =>
        Effect.acquireRelease(
          Effect.map(
            blobs.write("voices", (wav) => audio.toWav(file, wav)),
            ({ name }) => name
          ),
          (name, exit) => (Exit.isSuccess(exit) ? Effect.void : blobs.remove([name]))
        )

      const sampled = (character: VoiceCharacter, said: string) =>
        Effect.acquireRelease(Effect.interruptible(keepSample(blobs, synthesis, character, said)), (sample, exit) =>
          Exit.isSuccess(exit) || sample === undefined ? Effect.void : blobs.remove([sample.blob])
        )

      const heard = (file: string, deadlineMs: number) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
          recognition
            .recognise({ file, language: "", keyterms: [] })
            .pipe(Effect.timeoutOption(Math.max(0, deadlineMs - nowMs)))
        ).pipe(
          Effect.map((recognised) => (recognised._tag === "Some" ? recognised.value : nothing)),
          Effect.catch(() => Effect.succeed(nothing))
        )

      return {
        create: Effect.fn("VoiceTraining.create")(function* (workspace, fields, recordings, cover) {
          const tags = yield* tagsOf(fields.tags)
          const texts = yield* textsOf(fields.texts, recordings.length)
          const designed = yield* signaturesOf(fields.voice_design_signatures, recordings.length)
          for (const [i, signature] of designed.entries()) {
            yield* signatures.verify(signature, workspace, recordings[i]?.file ?? "")
          }
          const examined = yield* Effect.forEach(
            recordings,
            ({ file }, i) =>
              audio.examine(file).pipe(
                Effect.filterOrFail(
                  ({ durationMs }) => durationMs <= longestMs,
                  () => ({ reason: "TooLong", message: `at most ${longestMs / 60_000} minutes are taken` }) as const
                ),
                Effect.mapError((refusal) => refused(i, refusal))
              ),
            { concurrency: atOnce }
          )
          const deadlineMs = (yield* Clock.currentTimeMillis) + recognitionMs
          const spoken = yield* Effect.forEach(
            recordings,
            ({ file }, i) =>
              texts[i] ? Effect.succeed({ text: texts[i], language: undefined }) : heard(file, deadlineMs),
            { concurrency: atOnce }
          )
          // From here on nobody can turn back: a model that is stored must find its recordings.
          return yield* Effect.uninterruptible(
            Effect.scoped(
              Effect.gen(function* () {
                const names = yield* Effect.forEach(
                  recordings,
                  ({ file }, i) => kept(file).pipe(Effect.mapError((refusal) => refused(i, refusal))),
                  { concurrency: atOnce }
                )
                const picture =
                  cover === undefined
                    ? undefined
                    : yield* Effect.acquireRelease(keepCover(blobs, cover), ({ blob }, exit) =>
                        Exit.isSuccess(exit) ? Effect.void : blobs.remove([blob])
                      )
                const references = names.map((blob, i) => ({ blob, text: spoken[i]?.text ?? "" }))
                const profile = mostVoiced(examined)?.profile
                const defaultText = spoken.find(({ text }) => text !== "")?.text ?? ""
                const sample = fields.generate_sample
                  ? yield* sampled(
                      models.character({ id: names.join(), profile, voice_references: references }),
                      defaultText
                    )
                  : undefined
                return yield* models.insert(workspace, {
                  title: fields.title,
                  description: fields.description ?? "",
                  visibility: fields.visibility ?? "private",
                  tags,
                  languages: [...new Set(spoken.flatMap(({ language }) => language ?? []))],
                  source: designed.length > 0 ? "voice_design" : null,
                  cover: picture,
                  defaultText,
                  profile,
                  quality: examined.map((found, i) =>
                    qualityOf(recordings[i]?.filename ?? "", found, spoken[i]?.language, platform.cloning)
                  ),
                  references,
                  samples: sample === undefined ? [] : [sample]
                })
              })
            )
          )
        })
      }
    })
  )
}

/** Recordings worked on at the same time, of one request. */
const atOnce = 2
const longestMs = 10 * 60_000
/** For recognising all of a request's recordings. */
const recognitionMs = 60_000

const nothing: { readonly text: string; readonly language: string | undefined } = { text: "", language: undefined }

const refused = (index: number, { message }: Pick<AudioFault, "message">): BadRequest =>
  new BadRequest({ message: `voices[${index}]: ${message}` })

const mostVoiced = (examined: ReadonlyArray<VoiceExamination>): VoiceExamination | undefined =>
  examined.toSorted((a, b) => b.voicedMs - a.voicedMs)[0]

const adapted = "adapted: a voice of the serving engine is bent towards the recording; it is not cloned"

const qualityOf = (
  filename: string,
  found: VoiceExamination,
  language: string | undefined,
  cloning: boolean
): ModelQuality["audios"][number] => ({
  filename: filename.replaceAll("\0", "").toWellFormed().slice(0, 255).toWellFormed(),
  duration_ms: found.durationMs,
  language: language ?? "unknown",
  quality: {
    voiced_share: round(found.durationMs > 0 ? found.voicedMs / found.durationMs : 0),
    level_dbfs: round(found.levelDbfs),
    peak_dbfs: round(found.peakDbfs),
    clipped_share: round(found.clipped)
  },
  quality_passed: true,
  quality_reason: cloning ? "" : adapted
})

/** JSON has no infinity. */
const round = (value: number): number => Math.round(Math.max(-200, Math.min(200, value)) * 1e4) / 1e4
