// Hands a telephone call to a person. Cold: the far side's own carrier places it (REFER, RFC 3515); where that is refused
// we place it and stay in the middle. Warm: music for the caller, a private word with the colleague, then both together.
// Whatever fails, the caller is back with the agent, or hung up on politely, as the destination says.
import { Effect, Stream } from "effect"
import type { CallContext } from "../CallContext.ts"
import type { PlannedTransfer } from "../CallPlan.ts"
import type { Pacer } from "../playout/Pacer.ts"
import type { CallParts, Dial } from "../ports/CallParts.ts"
import { hearingRate, type Leg } from "../leg/Leg.ts"
import * as Consultation from "./Consultation.ts"
import { FrameRing } from "./FrameRing.ts"
import { HoldMusic } from "./HoldMusic.ts"
import type { SwitchedLeg } from "../leg/SwitchedLeg.ts"
import type { Transcript } from "../transcript/Transcript.ts"
import { faultOf, speak } from "./speak.ts"
import { wordsIn } from "./words.ts"
import { instructions } from "../transcript/instructions.ts"

/** Whose call is handed over. */
export interface TransfersOptions {
  readonly call: CallContext
  readonly parts: CallParts["Service"]
  /** The caller's. */
  readonly leg: SwitchedLeg
  /** For the colleague's briefing, and for what is said to the caller meanwhile. */
  readonly transcript: Pick<Transcript, "messages" | "line">
  /** The agent has said what it began to say. */
  readonly said: Effect.Effect<void>
}

/** How long a colleague's telephone rings. */
const ringSeconds = 30
const briefingMs = 8_000
const farewellMs = 6_000
/** A message of the destination takes no longer to be spoken. */
const messageMs = 60_000

/** Never fails; what the model is told. Never returns when the call was handed over. */
export const transfer = (to: PlannedTransfer, options: TransfersOptions): Effect.Effect<string, never, Pacer> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { call, leg, parts, said } = options
      yield* said
      call.journal.note("transfer_began", { mode: to.mode, label: to.label })
      const failure =
        to.mode === "cold"
          ? yield* cold(to, options)
          : parts.dial === undefined
            ? "no call can be placed from here"
            : yield* warm(to, parts.dial, options)
      leg.giveBack()
      call.journal.note("transfer_failed", { reason: failure })
      return yield* failed(to, failure, options)
    })
  )

/** Fails back with why; stays for ever once the caller is handed over. */
const cold = Effect.fnUntraced(function* (to: PlannedTransfer, options: TransfersOptions) {
  const { call, leg, parts } = options
  const { plan } = call
  const telephone = leg.telephone
  if (telephone === undefined) return "this is no telephone call"
  if (parts.mayRefer !== undefined && !(yield* parts.mayRefer(plan, to.target))) return dialFailures.not_allowed
  if (
    (yield* Effect.promise(() => telephone.refer(referTo(to.target), plan.phone?.referHeaders ?? {}))) === "transferred"
  ) {
    leg.handedOver = true
    call.tell({ _tag: "EndAsked", reason: "escalated" })
    return yield* Effect.never
  }
  if (parts.dial === undefined) return "the carrier refused"
  call.journal.note("transfer_bridged", {})
  leg.take({ source: new HoldMusic(leg.playRate) })
  const colleague = yield* Effect.result(parts.dial(plan, to.target, ringSeconds, "refer_declined"))
  if (colleague._tag === "Failure") return dialFailures[colleague.failure.reason]
  const consultation = yield* Consultation.make({ ...options, leg: colleague.success })
  return yield* join(consultation, colleague.success, options)
})

const warm = Effect.fnUntraced(function* (to: PlannedTransfer, dial: Dial, options: TransfersOptions) {
  const { leg } = options
  const { plan } = options.call
  const words = wordsIn(plan.voice.language)
  leg.take({ source: new HoldMusic(leg.playRate) })
  const called = yield* Effect.result(dial(plan, to.target, ringSeconds, "consultation"))
  if (called._tag === "Failure") return dialFailures[called.failure.reason]
  const consultation = yield* Consultation.make({ ...options, leg: called.success })
  const talk = Effect.gen(function* () {
    yield* consultation.say(yield* briefing(to, options))
    if (to.warmConnect === "direct") return "yes"
    const confirm = to.warmConnect === "confirm"
    if (confirm) yield* consultation.say(words.confirm)
    return yield* consultation.ask(confirm)
  })
  const answer = yield* talk.pipe(
    // The caller gave up: the colleague is told before the line closes.
    Effect.onInterrupt(() => Effect.timeoutOption(consultation.say(words.callerLeft), farewellMs))
  )
  if (answer !== "yes") return declined[answer]
  if (to.warmConnect === "confirm") yield* consultation.say(words.connecting)
  return yield* join(consultation, called.success, options)
})

/** Both sides hear each other; the agent is out of it, and the call ends with either of them. */
const join = Effect.fnUntraced(function* (
  consultation: Consultation.Consultation,
  colleague: Leg,
  { call, leg }: TransfersOptions
): Effect.fn.Return<string> {
  const toColleague = new FrameRing(colleague.playRate)
  const toCaller = new FrameRing(leg.playRate)
  consultation.join((samples) => toCaller.push(samples), toColleague)
  leg.handOver({
    source: toCaller,
    onFrame: (samples) => toColleague.push(samples),
    onDigit: (digit) => colleague.telephone?.sendDigits(digit)
  })
  call.journal.note("transfer_joined", { rate: hearingRate })
  yield* consultation.gone
  call.tell({ _tag: "EndAsked", reason: "escalated" })
  return yield* Effect.never
})

/** What the colleague is told: the model's words, within a bound; else the destination's own. */
const briefing = ({ briefing: wanted }: PlannedTransfer, { call: { plan }, parts, transcript }: TransfersOptions) => {
  const plain = [wordsIn(plan.voice.language).hello, wanted].filter((part) => part !== "").join(" ")
  const ask = `[A colleague has answered your private call about handing this caller over; the caller cannot hear you. Tell the colleague in one or two short sentences who is calling and why. Ask nothing. ${wanted}]`
  return parts
    .chat(plan.llm)
    .stream({
      messages: [...instructions(plan.prompt), ...transcript.messages(), { role: "user", content: ask }],
      tools: [],
      extra: plan.llmExtra
    })
    .pipe(
      Stream.runFold(
        () => "",
        (text, delta) => (delta._tag === "Text" ? text + delta.text : text)
      ),
      Effect.timeoutOrElse({ duration: briefingMs, orElse: () => Effect.succeed("") }),
      Effect.orElseSucceed(() => ""),
      Effect.map((text) => (text.trim() === "" ? plain : text.trim()))
    )
}

const failed = Effect.fnUntraced(function* (
  { onFailure }: PlannedTransfer,
  why: string,
  { call, leg, parts, transcript }: TransfersOptions
): Effect.fn.Return<string> {
  if (onFailure.message !== "") {
    yield* speak(onFailure.message, leg.playRate, call.plan, parts.synthesizer, (source) => leg.take({ source })).pipe(
      Effect.map((failure) => failure && call.journal.fault("tts_failed", faultOf(failure))),
      Effect.timeoutOption(messageMs)
    )
    leg.giveBack()
    transcript.line(onFailure.message)
  }
  if (onFailure.action === "end_call") {
    call.tell({ _tag: "EndAsked", reason: "agent_hangup" })
    return yield* Effect.never
  }
  const told = onFailure.message === "" ? "Apologise to the caller and go on." : "The caller has been told. Go on."
  return `The transfer failed: ${why}. ${told}`
})

const dialFailures = {
  busy: "the line is busy",
  no_answer: "nobody answered",
  failed: "the number could not be reached",
  not_allowed: "this number may not be called from here"
} as const

const declined = {
  no: "the colleague declined",
  voicemail: "an answering machine took the call",
  silent: "the colleague said nothing",
  gone: "the colleague hung up"
} as const

/** A number as the carrier takes it. */
const referTo = (target: string): string => (target.startsWith("+") ? `tel:${target}` : target)
