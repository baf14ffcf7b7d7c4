// A caller whom the model wants to hand over: what of it leaves the service, and what is said where it must not.
import { assert, layer } from "@effect/vitest"
import * as FakeChat from "@parley/llm/testing/FakeChatServer"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { Effect } from "effect"
import { customer, eventually, telephone } from "../telephone.ts"

const { server, service } = telephone({ PARLEY_SIP_PORT: "0" })

/** What the model is told in the end, and the session's journal, of a call that is to be handed to a premium number. */
const handedOver = Effect.fnUntraced(function* (mode: "cold" | "warm", mayDial: boolean) {
  const { agent, ask, number, session, sessions, workspace } = yield* customer
  const chat = yield* FakeChat.make((index) =>
    index === 0 ? { kind: "tool", name: "transfer_call", arguments: "{}" } : { kind: "say", text: "I am sorry." }
  )
  const agent_id = yield* agent({
    prompt: { first_message_mode: "fixed", first_message: "Hello." },
    llm: { custom: { base_url: chat.baseUrl, model: "m", api_key: "k" } },
    conversation: {
      record_audio: false,
      transfer_destinations: [
        { phone_number: "+19005550123", mode, on_failure: { action: "end_call", message: "Nobody is there." } }
      ]
    }
  })
  const line = yield* number({ agent_id })
  yield* (yield* PhoneLines).allowDialling(yield* (yield* Workspaces).ensure(workspace), mayDial)
  const before = server.dials.length
  const call = yield* Effect.promise(() => server.ring({ from: "+14155550123", to: line.number }))
  if (call === undefined) throw new Error("nobody has the number")
  yield* eventually(
    Effect.sync(() => call.leg.messages.some(({ message }) => message._tag === "AgentDone")),
    (done) => done,
    "the greeting is heard"
  )
  for (const digit of "0#") call.leg.caller.presses(digit)
  return { ask, call, dials: () => server.dials.slice(before), sessions, session }
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A caller who is to be handed over", (it) => {
  for (const mode of ["cold", "warm"] as const) {
    it.effect(`stays where the workspace may not place calls, and is told so (${mode})`, () =>
      Effect.gen(function* () {
        const { ask, call, dials, session, sessions } = yield* handedOver(mode, false)
        const [row] = yield* eventually(sessions, (all) => all[0]?.["status"] === "completed", "the call is over")
        assert.strictEqual(row?.["end_reason"], "agent_hangup")
        assert.deepStrictEqual([call.leg.referred, dials()], [[], []])
        const shown = yield* session(String(row?.["session_id"]))
        assert.include(JSON.stringify(shown["items"]), "Nobody is there.")
        const { body } = yield* ask("GET", `/v1/agent/sessions/${String(row?.["session_id"])}/journal`)
        assert.include(JSON.stringify(body), "calls may not be placed from here")
      })
    )
  }

  it.effect("is asked for by REFER and then called by us where it may", () =>
    Effect.gen(function* () {
      const { call, dials } = yield* handedOver("cold", true)
      yield* eventually(Effect.sync(dials), (all) => all.length === 1, "it is dialled")
      assert.deepStrictEqual(call.leg.referred, ["tel:+19005550123"])
      call.leg.caller.leaves()
    })
  )
})
