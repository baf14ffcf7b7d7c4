// The demo host holds its conversation, in the words people use and recognisers write.
import { assert, describe, it } from "@effect/vitest"
import type { ChatDelta, ChatMessage, ToolSpec } from "../src/ChatModel.ts"
import { respond } from "../src/demo/respond.ts"
import { dayIn, nameIn, timeIn } from "../src/demo/slots.ts"

const opening: ChatMessage = { role: "user", content: "[The call has just begun. Greet.]" }

const converse = (sentences: ReadonlyArray<string>, tools: ReadonlyArray<ToolSpec> = []) => {
  const messages: Array<ChatMessage> = [{ role: "system", content: "You are a receptionist." }]
  const answers: Array<ReadonlyArray<ChatDelta>> = []
  for (const content of sentences) {
    messages.push({ role: "user", content })
    const deltas = respond({ messages, tools, extra: {} })
    answers.push(deltas)
    messages.push({ role: "assistant", content: textOf(deltas) })
  }
  return answers
}

const textOf = (deltas: ReadonlyArray<ChatDelta>): string =>
  deltas.map((delta) => (delta._tag === "Text" ? delta.text : "")).join("")

describe("the demo host", () => {
  it("greets when the call begins", () => {
    assert.match(textOf(respond({ messages: [opening], tools: [], extra: {} })), /demo desk/)
  })

  it("books an appointment step by step", () => {
    const answers = converse([
      "i would like to make an appointment",
      "on monday",
      "at ten",
      "my name is john smith",
      "yes please",
      "no thank you"
    ])
    const texts = answers.map(textOf)
    assert.match(texts[0] ?? "", /Which day/)
    assert.match(texts[1] ?? "", /Monday is fine.*time/)
    assert.match(texts[2] ?? "", /Monday at 10.*name/)
    assert.match(texts[3] ?? "", /Monday at 10.*John Smith.*book/)
    assert.match(texts[4] ?? "", /booked for Monday at 10/)
    assert.match(texts[5] ?? "", /Goodbye/)
  })

  it("takes everything at once, and a correction", () => {
    const [first, second] = converse([
      "i need an appointment on friday at half past two in the afternoon",
      "no wait on thursday"
    ]).map(textOf)
    assert.match(first ?? "", /Friday at 2:30 in the afternoon.*name/)
    assert.match(second ?? "", /Thursday/)
  })

  it("says what it cannot do", () => {
    const texts = converse(["the moon is a cheese", "purple elephants", "who are you"]).map(textOf)
    assert.match(texts[0] ?? "", /did not understand/)
    assert.match(texts[1] ?? "", /small demo host/)
    assert.match(texts[2] ?? "", /built-in demo host/)
  })

  it("calls the booking tool it is offered, and hangs up with its own", () => {
    const book: ToolSpec = {
      name: "book_appointment",
      description: "",
      parameters: { type: "object", properties: { date: {}, time: {}, customer_name: {} } }
    }
    const hangUp: ToolSpec = { name: "hang_up_call", description: "", parameters: { type: "object", properties: {} } }
    const answers = converse(["book me for tuesday at nine", "i am mary", "yes", "goodbye"], [book, hangUp])
    const call = answers[2]?.find((delta) => delta._tag === "ToolCall")
    assert.strictEqual(call?.call.name, "book_appointment")
    assert.deepStrictEqual(JSON.parse(call?.call.arguments ?? ""), {
      date: "Tuesday",
      time: "9",
      customer_name: "Mary"
    })
    assert.strictEqual(answers[3]?.find((delta) => delta._tag === "ToolCall")?.call.name, "hang_up_call")
  })
})

describe("slots", () => {
  it.each([
    ["at ten thirty", "10:30"],
    ["ten o'clock in the morning", "10 in the morning"],
    ["at 3 p.m.", "3 in the afternoon"],
    ["at 14:15 please", "14:15"],
    ["in the morning", "in the morning"],
    ["monday", undefined]
  ])("time in %j is %j", (said, time) => {
    assert.strictEqual(timeIn(said), time)
  })

  it("knows days and names", () => {
    assert.strictEqual(dayIn("next wednesday would be good"), "next Wednesday")
    assert.strictEqual(nameIn("anna maria jones", true), "Anna Maria Jones")
    assert.strictEqual(nameIn("i'm looking for a doctor", false), undefined)
  })
})
