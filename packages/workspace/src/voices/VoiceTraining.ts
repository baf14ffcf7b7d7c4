// From recordings to a voice model. Every recording is examined before any is kept; a model that
// is not made leaves nothing behind. What is said in a recording is recognised where it was not sent: that has a
// bound for all of them together, and knowing nothing is no failure.
import { BadRequest, type Invalid } from "@parley/contract/Errors"
import type { ModelQuality, VoiceModel, VoiceModelCreate } from "@parley/contract/VoiceModel"
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

/** Makes voice models. */
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
      const parts: TrainingParts = {
        audio: yield* UploadedAudio,
        blobs: yield* Blobs,
        models: yield* VoiceModels,
        recognition: yield* Recognition,
        synthesis: yield* Synthesis,
        cloning: (yield* Platform).cloning
      }
      const signatures = yield* DesignSignatures

      return {
        create: Effect.fn("VoiceTraining.create")(function* (workspace, fields, recordings, cover) {
          const tags = yield* tagsOf(fields.tags)
          const texts = yield* textsOf(fields.texts, recordings.length)
          const designed = yield* signaturesOf(fields.voice_design_signatures, recordings.length)
          for (const [i, signature] of designed.entries()) {
            yield* signatures.verify(signature, workspace, recordings[i]?.file ?? "")
          }
          const examined = yield* examine(parts, recordings)
          const spoken = yield* recognise(parts, recordings, texts)
          // From here on nobody can turn back: a model that is stored must find its recordings.
          return yield* keep(parts, workspace, {
            fields,
            tags,
            source: designed.length > 0 ? "voice_design" : null,
            cover,
            takes: examined.map((found, i) => ({
              filename: recordings[i]?.filename ?? "",
              file: recordings[i]?.file ?? "",
              found,
              spoken: spoken[i] ?? nothing
            }))
          }).pipe(Effect.scoped, Effect.uninterruptible)
        })
      }
    })
  )
}

interface TrainingParts {
  readonly audio: UploadedAudio["Service"]
  readonly blobs: Blobs["Service"]
  readonly models: VoiceModels["Service"]
  readonly recognition: Recognition["Service"]
  readonly synthesis: Synthesis["Service"]
  /** `Platform.cloning`. */
  readonly cloning: boolean
}

/** What is said in a recording, as far as it is known. */
interface Spoken {
  readonly text: string
  readonly language: string | undefined
}

/** Everything a model is made of. */
interface Training {
  readonly fields: VoiceModelCreate
  readonly tags: ReadonlyArray<string>
  readonly source: string | null
  /** Path of an image. */
  readonly cover: string | undefined
  readonly takes: ReadonlyArray<{
    readonly filename: string
    readonly file: string
    readonly found: VoiceExamination
    readonly spoken: Spoken
  }>
}

const examine = ({ audio }: TrainingParts, recordings: Recordings) =>
  Effect.forEach(
    recordings,
    ({ file }, i) =>
      audio.examine(file).pipe(
        Effect.filterOrFail(
          ({ durationMs }) => durationMs <= longestMs,
          () => ({ reason: "TooLong", message: `at most ${longestMs / 60_000} minutes are taken` }) as const
        ),
        Effect.mapError((fault) => refused(i, fault))
      ),
    { concurrency: atOnce }
  )

/** The given texts; what was not sent is recognised, within one bound for all of them. */
const recognise = Effect.fnUntraced(function* (
  { recognition }: TrainingParts,
  recordings: Recordings,
  texts: ReadonlyArray<string>
) {
  const deadlineMs = (yield* Clock.currentTimeMillis) + recognitionMs
  const heard = (file: string) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
      recognition
        .recognise({ file, language: "", keyterms: [] })
        .pipe(Effect.timeoutOption(Math.max(0, deadlineMs - nowMs)))
    ).pipe(
      Effect.map((recognised): Spoken => (recognised._tag === "Some" ? recognised.value : nothing)),
      Effect.catch(() => Effect.succeed(nothing))
    )
  return yield* Effect.forEach(
    recordings,
    ({ file }, i) => (texts[i] ? Effect.succeed<Spoken>({ text: texts[i], language: undefined }) : heard(file)),
    { concurrency: atOnce }
  )
})

/** What was kept is removed again with the scope, unless the model is made. */
const keep = Effect.fnUntraced(function* (
  { audio, blobs, cloning, models, synthesis }: TrainingParts,
  workspace: string,
  { cover, fields, source, tags, takes }: Training
) {
  const removed = (names: ReadonlyArray<string>, exit: Exit.Exit<unknown, unknown>) =>
    Exit.isSuccess(exit) ? Effect.void : blobs.remove(names)
  const references = yield* Effect.forEach(
    takes,
    ({ file, spoken: { text } }, i) =>
      Effect.acquireRelease(
        Effect.map(
          blobs.write("voices", (wav) => audio.toWav(file, wav)),
          ({ name }) => ({ blob: name, text })
        ),
        ({ blob }, exit) => removed([blob], exit)
      ).pipe(Effect.mapError((fault) => refused(i, fault))),
    { concurrency: atOnce }
  )
  const picture =
    cover === undefined
      ? undefined
      : yield* Effect.acquireRelease(keepCover(blobs, cover), ({ blob }, exit) => removed([blob], exit))
  const profile = mostVoiced(takes.map(({ found }) => found))?.profile
  const defaultText = takes.find(({ spoken }) => spoken.text !== "")?.spoken.text ?? ""
  const id = references.map(({ blob }) => blob).join()
  const character = models.character({ id, profile: profile ?? null, voice_references: references })
  const sample = fields.generate_sample
    ? yield* Effect.acquireRelease(
        Effect.interruptible(keepSample(blobs, synthesis, character, defaultText)),
        (kept, exit) => (kept === undefined ? Effect.void : removed([kept.blob], exit))
      )
    : undefined
  return yield* models.insert(workspace, {
    title: fields.title,
    description: fields.description ?? "",
    visibility: fields.visibility ?? "private",
    tags,
    languages: [...new Set(takes.flatMap(({ spoken }) => spoken.language ?? []))],
    source,
    cover: picture,
    defaultText,
    profile,
    quality: takes.map(({ filename, found, spoken }) => qualityOf(filename, found, spoken.language, cloning)),
    references,
    samples: sample === undefined ? [] : [sample]
  })
})

/** Recordings worked on at the same time, of one request. */
const atOnce = 2
const longestMs = 10 * 60_000
/** For recognising all of a request's recordings. */
const recognitionMs = 60_000

const nothing: Spoken = { text: "", language: undefined }

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
