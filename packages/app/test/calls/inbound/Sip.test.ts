// Calls that ring at our numbers: who is let through, what is asked before the answer, and what the record says.
import { assert, layer } from "@effect/vitest"
import { Billing } from "@parley/workspace/billing/Billing"
import { PhoneCalls } from "@parley/workspace/phone/PhoneCalls"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect } from "effect"
import type { FakeIncoming } from "../../../src/testing/FakeSipServer.ts"
import { customer, endpoint, eventually, isSigned, type Reply, telephone } from "../telephone.ts"

const maxCalls = 3
const { server, service } = telephone({ PARLEY_SIP_PORT: "0", PARLEY_MAX_CALLS: String(maxCalls) })

const greeting = (first_message: string, webhooks: Record<string, unknown> = {}) => ({
  prompt: { first_message_mode: "fixed", first_message },
  conversation: { record_audio: false },
  webhooks
})

const ring = (to: string, from = "+14155550123") =>
  Effect.map(
    Effect.promise(() => server.ring({ from, to })),
    (call) => {
      if (call === undefined) throw new Error("nobody has the number")
      return call
    }
  )

/** Once the agent has said all of its greeting. */
const heard = ({ leg }: FakeIncoming) =>
  eventually(
    Effect.sync(() => leg.messages.some(({ message }) => message._tag === "AgentDone")),
    (done) => done,
    "the greeting is heard"
  )

const saidIn = (session: Record<string, unknown>): ReadonlyArray<string> =>
  (session["items"] as ReadonlyArray<{ content?: string }>).flatMap(({ content }) => content ?? [])

const refused = (to: string) =>
  Effect.gen(function* () {
    const call = yield* ring(to)
    const status = yield* eventually(Effect.sync(call.refused), (seen) => seen !== undefined, "it is refused")
    assert.deepStrictEqual([call.rang(), call.answers()], [false, 0])
    return status
  })

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("A call that rings", (it) => {
  it.effect("is answered by the number's agent with the caller's variables, held, stored, told and charged", () =>
    Effect.gen(function* () {
      const { agent, ask, becomes, events, kinds, number, session, sessions } = yield* customer
      const init = yield* endpoint([
        { status: 200, body: '{"dynamic_variables":{"who":"Ada","bad name":"x"},"more":1}' }
      ])
      const hook = yield* endpoint([{ status: 200, body: "" }])
      const agent_id = yield* agent(
        greeting("Hello {{who}}.", {
          conversation_init: { url: init.url, secret: "shared" },
          post_call: [{ url: hook.url }]
        })
      )
      const line = yield* number({ agent_id })
      const call = yield* ring(line.number.slice(1))
      yield* heard(call)
      assert.isTrue(call.rang())
      assert.strictEqual(init.asked.length, 1)
      const [asked] = init.asked
      assert.deepStrictEqual(asked?.body, {
        type: "call.inbound",
        event: "call.inbound",
        call: {
          caller_number: "+14155550123",
          dialed_number: line.number,
          agent_id,
          phone_number_id: line.id,
          carrier_call_sid: ""
        }
      })
      assert.isTrue(asked !== undefined && isSigned(asked, "shared"))
      const [{ session_id: id = "" } = {}] = (yield* sessions) as ReadonlyArray<{ session_id?: string }>
      assert.deepInclude(yield* session(id), {
        status: "active",
        source: "phone",
        direction: "inbound",
        caller_number: "+14155550123",
        dialed_number: line.number,
        sip_call_id: call.callId,
        dial_status: null,
        answered_by: null,
        timezone: "UTC"
      })
      call.leg.caller.leaves()
      const over = yield* becomes(id, "completed")
      assert.strictEqual(over["end_reason"], "user_hangup")
      assert.deepStrictEqual(saidIn(over), ["Hello Ada."])
      yield* eventually(events(id), (all) => all.length === 2, "both events")
      assert.deepStrictEqual(yield* events(id), ["call.ended", "call.analyzed"])
      yield* eventually(
        Effect.sync(() => hook.asked.length),
        (count) => count === 2,
        "both are delivered"
      )
      const told = hook.asked[0]?.body["session"] as Record<string, unknown>
      assert.deepInclude(told, { direction: "inbound", dial_status: null, answered_by: null, sip_call_id: call.callId })
      assert.sameMembers([...(yield* kinds)], ["agent", "phone"])
      const found = yield* ask("GET", `/v1/agent/sessions?sip_call_id=${encodeURIComponent(call.callId)}`)
      assert.strictEqual((found.body["sessions"] as ReadonlyArray<unknown>).length, 1)
      const workspace = String((yield* ask("GET", `/v1/agent/phone-numbers/${line.id}`)).body["workspace_id"])
      const sipTrace = yield* PhoneCalls
      const kept = yield* eventually(
        Effect.orDie(sipTrace.sipTrace(workspace, id)),
        (lines) => lines.length > 0,
        "its sipTrace is kept"
      )
      assert.deepStrictEqual(kept, [{ atMs: 0, direction: "in", what: "INVITE", detail: "1" }])
    })
  )

  it.effect("is refused as busy where nobody answers, and leaves no record", () =>
    Effect.gen(function* () {
      const { agent, ask, number, sessions, workspace } = yield* customer
      const unbound = yield* number()
      const draft = yield* number({ agent_id: yield* agent({}, false) })
      const spent = yield* number({ agent_id: yield* agent() })
      assert.isUndefined(yield* Effect.promise(() => server.ring({ from: "+14155550123", to: "+14159999999" })))
      assert.strictEqual(yield* refused(unbound.number), 486)
      assert.strictEqual(yield* refused(draft.number), 486)
      const billing = yield* Billing
      const id = yield* (yield* Workspaces).ensure(workspace)
      yield* billing.credit(id, -(yield* billing.account(id)).balance, "test")
      assert.strictEqual(yield* refused(spent.number), 486)
      assert.deepStrictEqual(yield* sessions, [])
      yield* ask("DELETE", `/v1/agent/phone-numbers/${unbound.id}`)
      assert.isUndefined(yield* Effect.promise(() => server.ring({ from: "+14155550123", to: unbound.number })))
    })
  )

  it.effect("is refused at once where every place is taken, and the next one is not when a place is free again", () =>
    Effect.gen(function* () {
      const { agent, number, sessions } = yield* customer
      const silent = yield* endpoint([undefined])
      const agent_id = yield* agent(greeting("Hello.", { conversation_init: { url: silent.url, timeout_seconds: 8 } }))
      const line = yield* number({ agent_id })
      const calls = yield* Effect.forEach(Array.from({ length: maxCalls }), () => ring(line.number))
      const over = yield* ring(line.number)
      // Known before the call that told of it returned.
      assert.strictEqual(over.refused(), 503)
      assert.isFalse(over.rang())
      const ringing = yield* eventually(sessions, (all) => all.length === maxCalls, "all ring")
      assert.deepStrictEqual([...new Set(ringing.map(({ status }) => status))], ["pending"])
      for (const call of calls) call.cancel()
      const gone = yield* eventually(sessions, (all) => all.every(({ status }) => status === "failed"), "all are over")
      assert.deepStrictEqual([...new Set(gone.map(({ end_reason }) => end_reason))], ["cancelled"])
      assert.deepStrictEqual(
        calls.map((call) => call.answers()),
        [0, 0, 0]
      )
      const next = yield* eventually(ring(line.number), (call) => call.refused() === undefined, "a place is free")
      next.cancel()
      yield* eventually(sessions, (all) => all.every(({ status }) => status === "failed"), "it is over")
    })
  )

  it.effect("is told that nobody answers when the API ends it while it rings", () =>
    Effect.gen(function* () {
      const { agent, ask, becomes, events, number, sessions } = yield* customer
      const silent = yield* endpoint([undefined])
      const hook = yield* endpoint([{ status: 200, body: "" }])
      const agent_id = yield* agent(
        greeting("Hello.", {
          conversation_init: { url: silent.url, timeout_seconds: 8 },
          post_call: [{ url: hook.url }]
        })
      )
      const line = yield* number({ agent_id })
      const call = yield* ring(line.number)
      const [row] = yield* eventually(sessions, (all) => all.length === 1, "it rings")
      const id = String(row?.["session_id"])
      assert.strictEqual((yield* ask("POST", `/v1/agent/sessions/${id}/end`)).status, 204)
      assert.strictEqual((yield* becomes(id, "failed"))["end_reason"], "cancelled")
      yield* eventually(Effect.sync(call.refused), (status) => status === 480, "the caller is told")
      assert.deepStrictEqual(yield* events(id), [])
    })
  )

  const nothing = "Hello {{who}}."
  const inits: ReadonlyArray<readonly [what: string, replies: ReadonlyArray<Reply>, asked: number, said: string]> = [
    ["is silent", [undefined], 1, nothing],
    [
      "fails once",
      [
        { status: 500, body: "" },
        { status: 200, body: '{"dynamic_variables":{"who":"Bob"}}' }
      ],
      2,
      "Hello Bob."
    ],
    ["fails twice", [{ status: 500, body: "" }], 2, nothing],
    ["redirects", [{ status: 302, body: "" }], 2, nothing],
    ["breaks the connection", ["hang up"], 2, nothing],
    ["answers with a list", [{ status: 200, body: '[{"who":"Bob"}]' }], 1, nothing],
    ["answers with no JSON", [{ status: 200, body: "<html>" }], 1, nothing],
    ["answers with other variables", [{ status: 200, body: '{"dynamic_variables":{"who":{},"x":"y"}}' }], 1, nothing]
  ]
  for (const [what, replies, times, said] of inits) {
    it.effect(`is answered although the customer's endpoint ${what}`, () =>
      Effect.gen(function* () {
        const { agent, becomes, number, sessions } = yield* customer
        const init = yield* endpoint(replies)
        const webhooks = { conversation_init: { url: init.url, timeout_seconds: replies[0] === undefined ? 1 : 8 } }
        const line = yield* number({ agent_id: yield* agent(greeting(nothing, webhooks)) })
        const call = yield* ring(line.number)
        yield* heard(call)
        assert.strictEqual(init.asked.length, times)
        call.leg.caller.leaves()
        const [row] = yield* sessions
        const over = yield* becomes(String(row?.["session_id"]), "completed")
        assert.deepStrictEqual(saidIn(over), [said])
      })
    )
  }

  it.effect("keeps a caller that is no number as it is written, and the agent learns of none", () =>
    Effect.gen(function* () {
      const { agent, becomes, number, sessions } = yield* customer
      const init = yield* endpoint([{ status: 200, body: "{}" }])
      const agent_id = yield* agent(greeting("[{{system.caller_number}}]", { conversation_init: { url: init.url } }))
      const line = yield* number({ agent_id })
      const call = yield* ring(line.number, "front \0desk")
      const [row] = yield* eventually(sessions, (all) => all[0]?.["status"] === "active", "it is up")
      assert.strictEqual(row?.["caller_number"], "front desk")
      assert.deepInclude(init.asked[0]?.body["call"], { caller_number: "" })
      call.leg.caller.leaves()
      yield* becomes(String(row?.["session_id"]), "completed")
    })
  )

  it.effect("counts from the next call on when its number is bound to another agent", () =>
    Effect.gen(function* () {
      const { agent, ask, number, sessions } = yield* customer
      const [one, other] = [yield* agent(greeting("One.")), yield* agent(greeting("Other."))]
      const line = yield* number({ agent_id: one })
      const agents = Effect.fnUntraced(function* (count: number) {
        const call = yield* ring(line.number)
        const all = yield* eventually(
          sessions,
          (seen) => seen.length === count && seen[0]?.["status"] === "active",
          "up"
        )
        call.leg.caller.leaves()
        yield* eventually(sessions, (seen) => seen[0]?.["status"] === "completed", "over")
        return all[0]?.["agent_id"]
      })
      assert.strictEqual(yield* agents(1), one)
      yield* ask("PATCH", `/v1/agent/phone-numbers/${line.id}`, { agent_id: other })
      assert.strictEqual(yield* agents(2), other)
    })
  )
})
