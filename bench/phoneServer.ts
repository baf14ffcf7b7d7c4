// The side that is measured: a phone server and the engine with scripted engines, in a process of its own. Answers
// questions about itself over IPC.
import { NodeRuntime } from "@effect/platform-node"
import * as Conversation from "@parley/engine/Conversation"
import { Pacer } from "@parley/engine/playout/Pacer"
import { CallParts, ToolFailure } from "@parley/engine/ports/CallParts"
import type { Leg } from "@parley/engine/leg/Leg"
import { planOf } from "@parley/engine/testing/Rehearsal"
import { makeScriptedChatModel } from "@parley/llm/testing/ScriptedChatModel"
import type { Synthesizer } from "@parley/speech/ports/Synthesizer"
import type { Transcriber } from "@parley/speech/ports/Transcriber"
import { makeScriptedSynthesizer } from "@parley/speech/testing/ScriptedSynthesizer"
import { makeScriptedTranscriber } from "@parley/speech/testing/ScriptedTranscriber"
import { makeScriptedVoiceActivity } from "@parley/speech/testing/ScriptedVoiceActivity"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import type { EndReason } from "@parley/contract/EndReason"
import { Deferred, Effect, Layer } from "effect"

export interface Figures {
  readonly calls: number
  readonly frames: number
  /** More than 20 ms after they were due. */
  readonly late: number
  readonly cpuMs: number
  readonly rssMb: number
  readonly heapMb: number
  readonly handles: number
}

/** Of the synthesizer, in milliseconds to its first sound. */
const ttsMs = Number(process.argv[2] ?? 150)

let frames = 0
let late = 0

/** A frame is due 20 ms after the last one. */
const timed = (leg: Leg): Leg => {
  let last = 0
  const play = leg.play.bind(leg)
  return Object.assign(Object.create(leg) as Leg, {
    playRate: leg.playRate,
    play: (frame: Int16Array | undefined) => {
      const now = performance.now()
      if (last !== 0) {
        frames++
        if (now - last > 40) late++
      }
      last = now
      play(frame)
    },
    attach: leg.attach.bind(leg),
    tell: leg.tell.bind(leg),
    close: leg.close.bind(leg)
  })
}

// Scripted engines keep what was asked of them: each request has one of its own.
const pattern = makeScriptedSynthesizer()
const forgetful: Synthesizer = {
  ...pattern,
  synthesize: (request) => makeScriptedSynthesizer({ firstAudioMs: ttsMs }).synthesize(request)
}
const utterances = Array.from({ length: 100 }, () => "please tell me about the opening hours")
const attentive: Transcriber = {
  ...makeScriptedTranscriber({ utterances }),
  open: (options) => makeScriptedTranscriber({ utterances, finalMs: 150 }).open(options)
}

const main = Effect.gen(function* () {
  const run = Effect.runForkWith(yield* Effect.context<CallParts | Pacer>())
  const outliving = yield* Effect.scope
  let calls = 0
  const server = yield* Effect.promise(() =>
    makeSipServer({
      network: {
        host: "127.0.0.1",
        port: 0,
        tls: undefined,
        publicAddress: undefined,
        rtpPorts: undefined
      },
      mayReach: () => true,
      userAgent: "Parley",
      handlers: {
        trunksOf: () => Promise.resolve([{ id: "trunk", allowedAddresses: ["127.0.0.1"], digest: undefined }]),
        onCall: async (call) => {
          const leg = await call.answer()
          if (leg === undefined) return
          const sessionId = `call_${calls++}`
          const firstMessage = { mode: "fixed", text: "Hello, this is the clinic, how can I help you?" } as const
          const plan = { ...planOf({ firstMessage, rules: { hangupAfterMs: 3_600_000 } }), sessionId }
          const endAsked = Deferred.makeUnsafe<EndReason>()
          run(Conversation.run({ plan, leg: timed(leg), remember: () => undefined, endAsked, outliving }))
        }
      }
    })
  )
  let cpu = process.cpuUsage()
  process.on("message", () => {
    globalThis.gc?.()
    const used = process.cpuUsage(cpu)
    cpu = process.cpuUsage()
    const memory = process.memoryUsage()
    const figures: Figures = {
      calls: server.count(),
      frames,
      late,
      cpuMs: (used.user + used.system) / 1000,
      rssMb: memory.rss / 2 ** 20,
      heapMb: memory.heapUsed / 2 ** 20,
      handles: process.getActiveResourcesInfo().length
    }
    frames = 0
    late = 0
    process.send?.(figures)
  })
  process.send?.({ port: server.ports.udp })
  return yield* Effect.never
}).pipe(
  Effect.scoped,
  Effect.provide(
    Layer.merge(
      Layer.sync(CallParts, () => ({
        synthesizer: forgetful,
        transcriber: attentive,
        voiceActivity: makeScriptedVoiceActivity(),
        chat: () =>
          makeScriptedChatModel(["All right, we are open from nine to five on weekdays."], { firstWordMs: 200 }),
        runTool: () => Effect.fail(new ToolFailure({ message: "no tools" }))
      })),
      Pacer.layer
    )
  )
)

NodeRuntime.runMain(main)
