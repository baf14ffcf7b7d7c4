// A service that stops: calls that are answered are hung up, calls that ring are given up, and every record says so.
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpListener } from "@parley/server/http/HttpListener"
import { customer, endpoint, eventually, telephone } from "./telephone.ts"

const { server, service } = telephone({ PARLEY_SIP_PORT: "0" })

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("The telephone of a service that stops", (it) => {
  it.effect("leaves nothing ringing and nothing up, and takes nothing new", () =>
    Effect.gen(function* () {
      const { drain } = yield* HttpListener
      const { agent, ask, events, number, session, sessions } = yield* customer
      const silent = yield* endpoint([undefined])
      const hook = yield* endpoint([{ status: 200, body: "" }])
      const config = (webhooks: Record<string, unknown>) => ({
        prompt: { first_message_mode: "fixed", first_message: "Hello." },
        conversation: { record_audio: false },
        webhooks: { post_call: [{ url: hook.url }], ...webhooks }
      })
      const prompt = yield* agent(config({}))
      const slow = yield* agent(config({ conversation_init: { url: silent.url, timeout_seconds: 8 } }))
      const [up, rings] = [yield* number({ agent_id: prompt }), yield* number({ agent_id: slow })]
      const ring = (to: string) => Effect.promise(() => server.ring({ from: "+14155550123", to }))
      const held = yield* ring(up.number)
      yield* eventually(sessions, (all) => all[0]?.["status"] === "active", "one is up")
      const ringing = yield* ring(rings.number)
      yield* eventually(sessions, (all) => all.length === 2, "one rings")
      const placed = yield* ask("POST", "/v1/agent/phone-calls", {
        agent_id: prompt,
        phone_number_id: up.id,
        to_number: "+442079460123"
      })
      assert.strictEqual(placed.status, 201)
      yield* eventually(
        Effect.sync(() => server.dials.length),
        (count) => count === 1,
        "one is dialled"
      )

      yield* drain
      const seen = yield* eventually(
        sessions,
        (all) => all.every(({ status }) => status === "completed" || status === "failed"),
        "all are over"
      )
      const ends = seen.map(({ dial_status, direction, end_reason }) => [direction, end_reason, dial_status])
      assert.sameDeepMembers(ends, [
        ["inbound", "agent_hangup", null],
        ["inbound", "cancelled", null],
        ["outbound", "dial_failed", "no_answer"]
      ])
      assert.strictEqual(held?.leg.closed(), "agent_hangup")
      assert.strictEqual(ringing?.refused(), 480)
      assert.isTrue(server.dials[0]?.cancelled())
      const id = String(placed.body["session_id"])
      assert.strictEqual((yield* session(id))["status"], "failed")
      assert.deepStrictEqual(yield* events(id), ["phone_call.dial_finished"])
      assert.strictEqual((yield* ring(up.number))?.refused(), 503)
      const late = yield* ask("POST", "/v1/agent/phone-calls", {
        agent_id: prompt,
        phone_number_id: up.id,
        to_number: "+442079460123"
      })
      assert.strictEqual(late.status, 503)
    })
  )
})
