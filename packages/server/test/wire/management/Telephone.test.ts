// The whole service and a carrier on loopback, SIP and RTP between them: numbers are called and call, with digest both
// ways, greeting heard, records, recordings and sipTraces kept.
import { assert, layer } from "@effect/vitest"
import type { IncomingCall, SipServer, PhoneLeg } from "@parley/transport/phone/Phone"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import { Effect, Redacted } from "effect"
import { Telephone } from "@parley/app/phone/Telephone"
import { customer, endpoint, eventually, serviceWith } from "../../../../app/test/calls/telephone.ts"

const service = serviceWith({ PARLEY_SIP_PORT: "0", PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" })
const secret = { username: "trunk", password: Redacted.make("trunk secret") }

/** A carrier that lets us call with credentials; what rings there is kept. */
const carrier = Effect.acquireRelease(
  Effect.promise(async () => {
    const rung: Array<IncomingCall> = []
    const server: SipServer = await makeSipServer({
      network: {
        host: "127.0.0.1",
        port: 0,
        tls: undefined,
        publicAddress: undefined,
        rtpPorts: undefined
      },
      mayReach: () => true,
      userAgent: "carrier",
      handlers: {
        trunksOf: () => Promise.resolve([{ id: "ours", allowedAddresses: ["127.0.0.1"], digest: secret }]),
        onCall: (call) => {
          rung.push(call)
          call.ring()
        }
      }
    })
    return { server, rung, uri: `127.0.0.1:${server.ports.udp}` }
  }),
  ({ server }) => Effect.promise(server.close)
)

/** Loud frames heard so far, from now on. */
const listen = (leg: PhoneLeg): (() => number) => {
  let loud = 0
  leg.attach({
    onFrame: (samples) => void (loud += samples.some((sample) => Math.abs(sample) > 500) ? 1 : 0),
    onEvent: () => undefined,
    onDigit: () => undefined,
    onClosed: () => undefined
  })
  return () => loud
}

const config = { prompt: { first_message_mode: "fixed", first_message: "Good morning, this is the desk." } }

layer(service, { excludeTestServices: true, timeout: "90 seconds" })("The telephone", (it) => {
  for (const transport of ["udp", "tcp"] as const) {
    it.effect(`answers a number that is called over ${transport}, and lets nobody in without its password`, () =>
      Effect.gen(function* () {
        const { ports } = yield* Telephone
        const { agent, ask, becomes, number, sessions } = yield* customer
        const { server } = yield* carrier
        const line = yield* number({
          agent_id: yield* agent(config),
          inbound_auth_username: "trunk",
          inbound_auth_password: "trunk secret",
          inbound_allowed_addresses: ["127.0.0.0/8"]
        })
        const trunk = { uri: `127.0.0.1:${ports?.[transport]}`, transport, credentials: secret }
        const request = { trunk, from: "+14155550123", to: line.number, headers: {}, ringSeconds: 10 }
        const wrong = { ...trunk, credentials: { username: "trunk", password: Redacted.make("guess") } }
        const refused = yield* Effect.promise(() => server.dial({ ...request, trunk: wrong }).outcome)
        assert.strictEqual(refused.status, "failed")
        assert.deepStrictEqual(yield* sessions, [])

        const outcome = yield* Effect.promise(() => server.dial(request).outcome)
        if (outcome.status !== "answered") throw new Error(`${outcome.status} ${outcome.sipStatus}`)
        const heard = listen(outcome.leg)
        yield* eventually(Effect.sync(heard), (frames) => frames > 20, "the greeting is heard")
        const [row] = yield* sessions
        const id = String(row?.["session_id"])
        assert.deepInclude(row, {
          status: "active",
          source: "phone",
          caller_number: "+14155550123",
          dialed_number: line.number,
          sip_call_id: outcome.callId
        })
        outcome.leg.close("user_hangup")
        assert.strictEqual((yield* becomes(id, "completed"))["end_reason"], "user_hangup")
        const recording = yield* eventually(
          ask("GET", `/v1/agent/sessions/${id}/recording`),
          ({ body }) => body["status"] === "complete",
          "the recording is complete"
        )
        assert.strictEqual((recording.body["tracks"] as ReadonlyArray<unknown>).length, 2)
        const sipTrace = yield* eventually(
          ask("GET", `/v1/agent/sessions/${id}/sip-trace`),
          ({ body }) => (body["lines"] as ReadonlyArray<unknown>).length > 0,
          "the sipTrace is kept"
        )
        const what = (sipTrace.body["lines"] as ReadonlyArray<{ what: string }>).map((one) => one.what)
        assert.includeMembers(what, ["INVITE", "180 Ringing", "200 OK", "ACK", "BYE"])
        assert.notInclude(JSON.stringify(sipTrace.body), "trunk secret")
      })
    )
  }

  it.effect("rings busy where nobody is bound, and is a failed session when the caller gives up", () =>
    Effect.gen(function* () {
      const { ports } = yield* Telephone
      const { agent, ask, becomes, number, sessions } = yield* customer
      const { server } = yield* carrier
      const line = yield* number({ inbound_allowed_addresses: ["127.0.0.1"] })
      const trunk = { uri: `127.0.0.1:${ports?.udp}`, transport: "udp", credentials: undefined } as const
      const request = { trunk, from: "anonymous", to: line.number, headers: {}, ringSeconds: 10 }
      const outcome = yield* Effect.promise(() => server.dial(request).outcome)
      assert.deepInclude(outcome, { status: "busy", sipStatus: 486 })
      assert.deepStrictEqual(yield* sessions, [])

      const silent = yield* endpoint([undefined])
      const webhooks = { conversation_init: { url: silent.url, timeout_seconds: 8 } }
      yield* ask("PATCH", `/v1/agent/phone-numbers/${line.id}`, { agent_id: yield* agent({ ...config, webhooks }) })
      const dialling = server.dial(request)
      const [row] = yield* eventually(sessions, (all) => all.length === 1, "it rings")
      dialling.cancel()
      const gone = yield* becomes(String(row?.["session_id"]), "failed")
      assert.deepInclude(gone, { end_reason: "cancelled", caller_number: "" })
    })
  )

  it.effect("places a call through the number's trunk, and hangs up when it is told to", () =>
    Effect.gen(function* () {
      const { agent, ask, becomes, number } = yield* customer
      const { rung, uri } = yield* carrier
      const line = yield* number({
        termination_uri: uri,
        termination_transport: "udp",
        termination_auth_username: "trunk",
        termination_auth_password: "trunk secret"
      })
      const input = { agent_id: yield* agent(config), phone_number_id: line.id, to_number: "+442079460999" }
      const place = Effect.map(ask("POST", "/v1/agent/phone-calls", input), ({ body, status }) => {
        assert.strictEqual(status, 201)
        return String(body["session_id"])
      })
      const ringing = (count: number) =>
        Effect.map(
          eventually(
            Effect.sync(() => rung.length),
            (seen) => seen === count,
            `call ${count} rings`
          ),
          () => rung[count - 1] as IncomingCall
        )

      const answered = yield* place
      const call = yield* ringing(1)
      assert.deepInclude(call, { callerNumber: line.number, dialedNumber: "+442079460999" })
      const leg = yield* Effect.promise(() => call.answer())
      if (leg === undefined) throw new Error("it was lost")
      const heard = listen(leg)
      yield* eventually(Effect.sync(heard), (frames) => frames > 20, "the greeting is heard")
      const up = yield* becomes(answered, "active")
      assert.deepInclude(up, { dial_status: "answered", answered_by: "unknown", sip_call_id: call.callId })
      assert.strictEqual((yield* ask("POST", `/v1/agent/sessions/${answered}/end`)).status, 204)
      assert.strictEqual((yield* becomes(answered, "completed"))["end_reason"], "agent_hangup")

      const busy = yield* place
      ;(yield* ringing(2)).refuse(486)
      assert.deepInclude(yield* becomes(busy, "failed"), { dial_status: "busy", end_reason: "dial_failed" })

      const cancelled = yield* place
      const third = yield* ringing(3)
      let gaveUp = false
      third.onCancelled(() => (gaveUp = true))
      assert.strictEqual((yield* ask("POST", `/v1/agent/sessions/${cancelled}/end`)).status, 204)
      yield* eventually(
        Effect.sync(() => gaveUp),
        (seen) => seen,
        "it stops ringing"
      )
      assert.deepInclude(yield* becomes(cancelled, "failed"), { dial_status: "no_answer", end_reason: "cancelled" })
    })
  )
})
