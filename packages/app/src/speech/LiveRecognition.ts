// Recognition of speech that comes bit by bit and is committed by whoever sends it. Nothing is lost however fast it comes,
// because each piece of 25 s is recognised before more is taken. Audio is charged as it is committed, in seconds, rounded up;
// what is pushed counts until then, so that recognition ends when the balance is spent.
import {
  type BadGateway,
  type BadRequest,
  type PaymentRequired,
  type TooManyRequests,
  Unavailable
} from "@parley/contract/Errors"
import { asrModels } from "@parley/contract/speech/Transcript"
import type { SpokenWord } from "@parley/speech/ports/Transcriber"
import { makeTranscriberSession } from "@parley/speech/recognition/TranscriberSession"
import { Speech } from "@parley/speech/Speech"
import { Billing } from "@parley/workspace/billing/Billing"
import { Context, Effect, Layer, type Scope } from "effect"
import { requestErrorOf } from "./requestErrors.ts"
import { SpeechPermits } from "./SpeechPermits.ts"

/** The words of one commit. */
export interface Committed {
  readonly text: string
  /** Milliseconds from the first sample of the whole connection. */
  readonly words: ReadonlyArray<SpokenWord>
  readonly language: string | undefined
}

type ListenerError = BadRequest | BadGateway | PaymentRequired | Unavailable

/** A recognition that is under way. `push` and `commit` fail with 402 once the balance is spent. */
export interface Listener {
  /** Mono 16 kHz. Returns when there is room for more. */
  readonly push: (samples: Int16Array) => Effect.Effect<void, ListenerError>
  /** Everything since the last commit. */
  readonly commit: Effect.Effect<Committed, ListenerError>
  /** Fails once the balance is spent; never ends otherwise. */
  readonly spent: Effect.Effect<never, PaymentRequired>
}

/** Recognition of live audio for the sockets. */
export class LiveRecognition extends Context.Service<
  LiveRecognition,
  {
    /**
     * `language`: ISO 639-1 hint, `""` for none. Takes a place of the workspace and of the service until the scope closes;
     * fails with 402, 429 and 503.
     */
    readonly open: (
      workspaceId: string,
      options: { readonly language: string; readonly keyterms: ReadonlyArray<string> }
    ) => Effect.Effect<Listener, PaymentRequired | TooManyRequests | Unavailable, Scope.Scope>
  }
>()("@parley/app/LiveRecognition") {
  /** `mostAtOnce`: of all workspaces together; one more fails with 503. */
  static readonly layer = (mostAtOnce: number): Layer.Layer<LiveRecognition, never, Billing | Speech | SpeechPermits> =>
    Layer.effect(
      LiveRecognition,
      Effect.gen(function* () {
        const { transcriber } = yield* Speech
        const billing = yield* Billing
        const permits = yield* SpeechPermits
        let open = 0
        const place = Effect.acquireRelease(
          Effect.suspend(() => (open < mostAtOnce ? Effect.sync(() => open++) : Effect.fail(overloaded))),
          () => Effect.sync(() => open--)
        )
        return {
          open: Effect.fnUntraced(function* (workspaceId, options) {
            const meter = yield* billing.meter(workspaceId, { kinds: ["asr"], model: asrModels[0] })
            yield* permits.take(workspaceId, meter.account.concurrency)
            yield* place
            const session = yield* makeTranscriberSession(transcriber, options)
            const piece = new Int16Array(longestPiece)
            let filled = 0
            let before = 0
            let heard: Committed = nothing
            let samples = 0
            let committedSeconds = 0

            /** The first `count` samples of the piece. */
            const hear = Effect.fnUntraced(function* (count: number) {
              if (count === 0) return
              const said = yield* session.transcribe(piece.slice(0, count)).pipe(Effect.mapError(requestErrorOf))
              const atMs = before / 16
              heard = {
                text: [heard.text, said.text].filter((text) => text !== "").join(" "),
                words: [
                  ...heard.words,
                  ...said.words.map((word) => ({ ...word, startMs: atMs + word.startMs, endMs: atMs + word.endMs }))
                ],
                language: said.language ?? heard.language
              }
              piece.copyWithin(0, count, filled)
              filled -= count
              before += count
            })

            return {
              push: Effect.fnUntraced(function* (given) {
                samples += given.length
                meter.reached(committedSeconds + samples / 16_000)
                for (let at = 0; at < given.length;) {
                  const part = given.subarray(at, at + longestPiece - filled)
                  piece.set(part, filled)
                  filled += part.length
                  at += part.length
                  if (filled === longestPiece) yield* hear(quietest(piece))
                }
              }, meter.whilePaid),
              spent: meter.spent,
              commit: Effect.gen(function* () {
                yield* hear(filled)
                committedSeconds += Math.ceil(samples / 16_000)
                const committed = heard
                heard = nothing
                samples = 0
                yield* meter.charge(committedSeconds)
                return committed
              }).pipe(meter.whilePaid)
            }
          })
        }
      })
    )
}

const overloaded = new Unavailable({ message: "The server cannot process the request due to high load" })

const nothing: Committed = { text: "", words: [], language: undefined }

/** 25 s: what a recogniser is asked at once. */
const longestPiece = 16_000 * 25

/** Where the last five seconds of a full piece are quietest: the cut that is least likely to go through a word. */
const quietest = (piece: Int16Array): number => {
  const block = 320
  let least = Number.POSITIVE_INFINITY
  let at = piece.length
  for (let from = piece.length - 16_000 * 5; from + block <= piece.length; from += block) {
    let energy = 0
    for (let i = from; i < from + block; i++) energy += piece[i]! * piece[i]!
    if (energy <= least) {
      least = energy
      at = from + block / 2
    }
  }
  return at
}
