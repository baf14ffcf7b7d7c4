// A conversation without server or database: a leg of your own, the embedded engines, and what you type.
//   node examples/02-embed-the-engine.ts "I need an appointment" "on monday at ten"
import type { Fact } from "@parley/contract/Fact"
import * as Conversation from "@parley/engine/Conversation"
import { Pacer } from "@parley/engine/playout/Pacer"
import { CallParts, ToolFailure } from "@parley/engine/ports/CallParts"
import type { Leg, LegListener } from "@parley/engine/leg/Leg"
import { defaultPlan } from "@parley/engine/CallPlan"
import { LanguageModels } from "@parley/llm/LanguageModels"
import { Speech } from "@parley/speech/Speech"
import type { EndReason } from "@parley/contract/EndReason"
import { Deferred, Effect, Layer } from "effect"

const sentences = process.argv.slice(2)
let listener: LegListener | undefined
let frames = 0
const leg: Leg = {
  playRate: 24_000,
  attach: (to) => (listener = to),
  // Twenty milliseconds of the agent's voice, or undefined for silence: send it where your caller listens.
  play: (frame) => void (frame && frames++),
  tell: (message) => {
    if (message._tag !== "State" || message.state !== "listening") return
    const text = sentences.shift()
    // Sound would come in by listener.onFrame: 320 samples at 16 kHz.
    setTimeout(
      () => listener?.onEvent(text === undefined ? { type: "user.hangup" } : { type: "user.message", text }),
      300
    )
  },
  close: () => console.log(`The call is over; the agent spoke for ${(frames / 50).toFixed(1)} s.`)
}

const remember = (fact: Fact): void => {
  if (fact._tag === "ItemRecorded") console.log(JSON.stringify(fact.item))
}

const main = Effect.gen(function* () {
  // Completed with a reason, this ends the call from outside; what outlives the call ends with the scope.
  const endAsked = yield* Deferred.make<EndReason>()
  const plan = defaultPlan("call_1", "You are a receptionist.")
  console.log(yield* Conversation.run({ plan, leg, remember, endAsked, outliving: yield* Effect.scope }))
}).pipe(Effect.scoped)

const parts = Layer.effect(
  CallParts,
  Effect.map(Speech, (speech) => ({
    ...speech,
    chat: LanguageModels.make({ providers: ["demo"] }).chat,
    runTool: () => Effect.fail(new ToolFailure({ message: "no tools" }))
  }))
)
const engines = Layer.provide(parts, Speech.layer({ tts: ["flite"], asr: ["pocketsphinx"] }))
await Effect.runPromise(Effect.provide(main, Layer.merge(engines, Pacer.layer)))
