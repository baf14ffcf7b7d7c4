// Every model of this room behind its port: the OpenAI-compatible adapter against a server on loopback, the demo host,
// several models as one, and the scripted model that other rooms test with.
import { Effect } from "effect"
import type { ChatModel } from "../src/ChatModel.ts"
import * as DemoHost from "../src/demo/DemoHost.ts"
import * as Failover from "../src/Failover.ts"
import * as OpenAiChat from "../src/openai/OpenAiChat.ts"
import { type ChatBehaviour, make as fakeServer } from "../src/testing/FakeChatServer.ts"
import { makeScriptedChatModel, type ScriptedAnswer } from "../src/testing/ScriptedChatModel.ts"
import { chatModelCases, type ChatModelMakers } from "./cases/chatModelCases.ts"

const args = { day: "Tuesday", name: "Mary" }

const served = (behaviour: ChatBehaviour) =>
  Effect.map(
    fakeServer(() => behaviour),
    (server) => ({
      model: OpenAiChat.make({ baseUrl: server.baseUrl, model: "m" }),
      asked: () => server.requests.length,
      cancelled: server.aborted
    })
  )

const openAi: ChatModelMakers = {
  answering: served({ kind: "say", text: "Your appointment is booked." }),
  calling: served({ kind: "tool", name: "book_appointment", arguments: JSON.stringify(args) }),
  failing: [
    ["Unauthorized", served({ kind: "status", status: 401 })],
    ["Overloaded", served({ kind: "status", status: 429 })],
    ["Unavailable", served({ kind: "status", status: 503 })],
    ["BadRequest", served({ kind: "status", status: 400 })]
  ],
  cutOff: served({ kind: "cut", after: "Your appointment" }),
  empty: served({ kind: "empty" }),
  slow: served({ kind: "say", text: "word ".repeat(1_000), gapMs: 20 })
}

const scripted = (answer: ScriptedAnswer) =>
  Effect.sync(() => {
    const model = makeScriptedChatModel([answer], { firstWordMs: 5 })
    return { model, asked: () => model.requests.length, cancelled: model.cancelled }
  })

const script: ChatModelMakers = {
  answering: scripted({ text: "Your appointment is booked." }),
  calling: scripted({ tool: { name: "book_appointment", args } }),
  failing: (["Unauthorized", "Overloaded", "Unavailable", "Timeout", "BadRequest"] as const).map(
    (fail) => [fail, scripted({ fail })] as const
  ),
  cutOff: scripted({ text: "Your appointment", fail: "Unavailable" }),
  empty: scripted({ fail: "InvalidOutput" }),
  slow: scripted({ firstWordMs: Number.POSITIVE_INFINITY })
}

const down = (): ChatModel => makeScriptedChatModel([{ fail: "Unavailable", firstWordMs: 0 }])

const second = (make: ChatModelMakers["answering"]) =>
  Effect.map(make, (made) => ({ ...made, model: Failover.make([down(), made.model]) }))

/** The same behind a model that is down. */
const behindOthers = (makers: ChatModelMakers): ChatModelMakers => ({
  answering: second(makers.answering),
  ...(makers.calling && { calling: second(makers.calling) }),
  ...(makers.failing && { failing: makers.failing.map(([reason, make]) => [reason, second(make)] as const) }),
  ...(makers.cutOff && { cutOff: second(makers.cutOff) }),
  ...(makers.empty && { empty: second(makers.empty) }),
  ...(makers.slow && { slow: second(makers.slow) })
})

chatModelCases("an OpenAI-compatible endpoint", openAi)
chatModelCases("the scripted model", script)
chatModelCases("several models as one, the first of them down", behindOthers(script))
chatModelCases("several models as one, an endpoint behind one that is down", behindOthers(openAi))

const demo = Effect.sync(() => ({ model: DemoHost.make() }))
const instant = "it answers at once and never fails"
chatModelCases(
  "the demo host",
  { answering: demo, calling: demo },
  { failure: instant, cutOff: instant, empty: instant, slow: instant }
)
