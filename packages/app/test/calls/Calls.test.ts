// Whatever happens at whatever moment: the place is free again, and the record is settled, once.
import { assert, describe, it } from "@effect/vitest"
import { defaultPlan } from "@parley/engine/CallPlan"
import * as FakeLeg from "@parley/engine/testing/FakeLeg"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import type { Call, CallServices, ClaimedCall, GivenUp } from "../../src/calls/Call.ts"
import { Unanswered } from "../../src/calls/Call.ts"
import type { NoPlace } from "../../src/calls/NoPlace.ts"
import { answered, FakeRecords, makeCalls } from "../../src/testing/CallRehearsal.ts"

const permitted = (call: Call | NoPlace): Call => {
  if (call._tag === "NoPlace") throw new Error(`no place: ${call.reason}`)
  return call
}

const reasonOf = (call: Call | NoPlace): string => (call._tag === "NoPlace" ? call.reason : "")

const places = { service: 1 }
const tenant = { workspaceId: "workspace", agentId: "agent" }

/** A telephone call that rings until the test lets it be taken. */
const ringing = (records: FakeRecords, sessionId: string, givenUp: (by: GivenUp) => { reason: "cancelled" }) => {
  const seen = { hungUp: 0 }
  const claim = Effect.sync((): ClaimedCall => {
    records.open(sessionId, "pending")
    return {
      ...tenant,
      sessionId,
      plan: Effect.sync(() => defaultPlan(sessionId, "")),
      leg: () => Effect.onInterrupt(Effect.never, () => Effect.sync(() => seen.hungUp++)),
      givenUp
    }
  })
  return { claim, seen }
}

const cancelled = () => ({ reason: "cancelled" }) as const

const small = (agentId: string) => ({ tenant: { workspaceId: "small", agentId }, stranger: {} })

describe("A call", () => {
  it.effect("is permitted, claimed, talked in, stored and settled, and its place is free", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls(places, records)
      const { claim, leg } = yield* answered(records, "a")
      const call = permitted(calls.permit({ sessionId: "a", tenant }))
      yield* calls.start(call, claim)
      yield* TestClock.adjust(100)
      assert.deepStrictEqual([calls.taken(), calls.gauge(), call.state], [1, 1, "talking"])
      assert.strictEqual(calls.find("a"), call)
      yield* TestClock.adjust(1000)
      // While it lives: whatever happens to the process then, this is known.
      assert.isNotEmpty(records.facts)
      leg.caller.leaves()
      yield* TestClock.adjust(1000)
      assert.deepStrictEqual(records.ends, [{ sessionId: "a", from: "active", reason: "user_hangup" }])
      assert.isUndefined(calls.find("a"))
      assert.deepStrictEqual([calls.taken(), calls.gauge()], [0, 0])
      permitted(calls.permit({ sessionId: "b" }))
    })
  )

  it.effect("gives the last place to one of two who come at once, and a session one call", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls(places, records)
      const call = permitted(calls.permit({ sessionId: "a" }))
      assert.strictEqual(reasonOf(calls.permit({ sessionId: "b" })), "full")
      assert.strictEqual(reasonOf(calls.permit({ sessionId: "a" })), "taken")
      assert.strictEqual(calls.refusal({ sessionId: "b" })?.reason, "full")
      calls.leave(call)
      calls.leave(call)
      assert.isUndefined(calls.refusal({ sessionId: "b" }))
      permitted(calls.permit({ sessionId: "b" }))
      assert.strictEqual(reasonOf(calls.permit({ sessionId: "c" })), "full")
    })
  )

  it.effect("counts the places of a workspace and of an agent, known at once or later", () =>
    Effect.gen(function* () {
      const limits = {
        service: 10,
        workspace: (id: string) => (id === "small" ? 2 : undefined),
        publicAgent: (id: string) => (id === "single" ? 1 : undefined)
      }
      const calls = yield* makeCalls(limits, new FakeRecords())
      const first = permitted(calls.permit(small("single")))
      assert.strictEqual(reasonOf(calls.permit(small("single"))), "full")
      const later = permitted(calls.permit({ stranger: {} }))
      assert.isFalse(calls.assign(later, small("single").tenant))
      assert.isTrue(calls.assign(later, small("other").tenant))
      assert.strictEqual(reasonOf(calls.permit(small("third"))), "full")
      permitted(calls.permit({ tenant: { workspaceId: "large", agentId: "x" } }))
      calls.leave(first)
      permitted(calls.permit(small("single")))
    })
  )

  it.effect("is given up while it rings", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls(places, records)
      const { claim, seen } = ringing(records, "a", cancelled)
      yield* calls.start(permitted(calls.permit({})), claim)
      assert.isTrue(yield* calls.end("a"))
      assert.strictEqual(seen.hungUp, 1)
      assert.deepStrictEqual(records.ends, [{ sessionId: "a", from: "pending", reason: "cancelled" }])
      assert.isFalse(yield* calls.end("a"))
      permitted(calls.permit({}))
    })
  )

  it.effect("is given up when it was claimed and no media flows, and so is a leg that comes too late", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls(places, records)
      const media = yield* Deferred.make<never, Unanswered>()
      const { claim } = yield* answered(records, "a", { leg: () => Deferred.await(media) })
      yield* calls.start(permitted(calls.permit({ sessionId: "a" })), claim)
      assert.isTrue(yield* calls.end("a"))
      yield* Deferred.fail(media, new Unanswered({ reason: "heartbeat_timeout" }))
      assert.deepStrictEqual(records.ends, [{ sessionId: "a", from: "active", reason: "agent_hangup" }])
      permitted(calls.permit({}))
    })
  )

  it.effect("whose media never flows ends by the reason its owner gives", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls(places, records)
      const gone = Effect.fail(new Unanswered({ reason: "user_hangup" }))
      const { claim } = yield* answered(records, "a", { leg: () => gone })
      yield* calls.start(permitted(calls.permit({})), claim)
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(records.ends, [{ sessionId: "a", from: "active", reason: "user_hangup" }])
      permitted(calls.permit({}))
    })
  )

  it.effect("whose leg is lost while its record is being settled is settled once", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const slow = yield* Deferred.make<void>()
      const life: CallServices["life"] = {
        ...records.life,
        record: (id, facts) => Effect.andThen(Deferred.await(slow), records.life.record(id, facts))
      }
      const calls = yield* makeCalls(places, records, { life })
      const { claim, leg } = yield* answered(records, "a")
      yield* calls.start(permitted(calls.permit({})), claim)
      yield* TestClock.adjust(100)
      const ending = yield* Effect.forkChild(calls.end("a"))
      yield* TestClock.adjust(300)
      leg.caller.leaves("lost")
      yield* TestClock.adjust(300)
      assert.strictEqual(reasonOf(calls.permit({})), "full")
      yield* Deferred.succeed(slow, undefined)
      yield* TestClock.adjust(1000)
      assert.isTrue(yield* Fiber.join(ending))
      assert.deepStrictEqual(records.ends, [{ sessionId: "a", from: "active", reason: "agent_hangup" }])
      permitted(calls.permit({}))
    })
  )

  it.effect("is over when the service stops: ringing, claimed or up, each once, and nobody comes in any more", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls({ service: 4 }, records)
      const rings = ringing(records, "rings", cancelled)
      const claimed = yield* answered(records, "claimed", { leg: () => Effect.never })
      const up = yield* answered(records, "up")
      const stuck = yield* Deferred.make<never>()
      for (const claim of [rings.claim, claimed.claim, up.claim]) {
        yield* calls.start(permitted(calls.permit({})), claim)
      }
      // Its claim hangs: there is no record, and its place goes with the others.
      const hanging = yield* Effect.forkChild(
        Effect.exit(calls.start(permitted(calls.permit({})), Deferred.await(stuck))),
        { startImmediately: true }
      )
      yield* TestClock.adjust(100)
      const draining = yield* Effect.forkChild(calls.drain, { startImmediately: true })
      assert.isTrue(calls.isStopping())
      assert.strictEqual(reasonOf(calls.permit({})), "stopping")
      yield* TestClock.adjust(5000)
      yield* Fiber.join(draining)
      assert.sameDeepMembers(records.ends, [
        { sessionId: "rings", from: "pending", reason: "cancelled" },
        { sessionId: "claimed", from: "active", reason: "agent_hangup" },
        { sessionId: "up", from: "active", reason: "agent_hangup" }
      ])
      assert.deepStrictEqual([rings.seen.hungUp, up.leg.closed()], [1, "agent_hangup"])
      assert.deepStrictEqual([calls.taken(), calls.gauge()], [0, 0])
      assert.strictEqual((yield* Fiber.join(hanging))._tag, "Failure")
      yield* calls.drain
    })
  )

  it.effect(
    "that was permitted before the service stopped is not begun after it: its place is free, its starter told",
    () =>
      Effect.gen(function* () {
        const records = new FakeRecords()
        const calls = yield* makeCalls(places, records)
        const { claim } = yield* answered(records, "a")
        const call = permitted(calls.permit({ sessionId: "a" }))
        yield* calls.drain
        const starting = yield* Effect.forkChild(Effect.exit(calls.start(call, claim)), { startImmediately: true })
        yield* TestClock.adjust(60_000)
        const told = starting.pollUnsafe()
        assert.isTrue(told?._tag === "Success" && Exit.hasInterrupts(told.value))
        assert.isUndefined(calls.find("a"))
        assert.strictEqual(call.state, "settled")
        assert.deepStrictEqual([records.status("a"), records.ends], [undefined, []])
      })
  )

  it.effect("that does not say goodbye in time is interrupted when the service stops, and still settled", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const life: CallServices["life"] = { ...records.life, record: () => Effect.never }
      const calls = yield* makeCalls(places, records, { life })
      const { claim, leg } = yield* answered(records, "a")
      yield* calls.start(permitted(calls.permit({})), claim)
      yield* TestClock.adjust(100)
      const draining = yield* Effect.forkChild(calls.drain)
      yield* TestClock.adjust(5000)
      yield* Fiber.join(draining)
      assert.deepStrictEqual(records.ends, [{ sessionId: "a", from: "active", reason: "agent_hangup" }])
      assert.strictEqual(leg.closed(), "agent_hangup")
    })
  )

  const boom = Effect.die(new Error("boom"))
  const recordedPlan = Effect.sync(() => ({ ...defaultPlan("a", ""), recordAudio: true }))
  type Fault = { readonly claimed?: Partial<ClaimedCall>; readonly services?: Partial<CallServices> }
  const steps: ReadonlyArray<readonly [step: string, fault: Fault, parts?: Parameters<typeof makeCalls>[3]]> = [
    ["the plan", { claimed: { plan: boom } }],
    ["the leg", { claimed: { leg: () => boom } }],
    ["the recording", { claimed: { plan: recordedPlan }, services: { recorder: { record: () => boom } } }],
    ["the conversation's start", {}, { openTools: () => boom }],
    [
      "a metric",
      { services: { metrics: { began: () => boom.pipe(Effect.runSync), ended: () => {}, remember: () => {} } } }
    ],
    ["what comes after", { claimed: { afterwards: boom, leg: () => boom } }]
  ]
  for (const [step, fault, parts] of steps) {
    it.effect(`ends with internal_error, once, and leaves its neighbour alone when ${step} has a defect`, () =>
      Effect.gen(function* () {
        const records = new FakeRecords()
        const calls = yield* makeCalls({ service: 2 }, records, fault.services, parts)
        const { claim } = yield* answered(records, "a", fault.claimed)
        yield* calls.start(permitted(calls.permit({})), claim)
        yield* TestClock.adjust(2000)
        assert.deepStrictEqual(records.ends, [{ sessionId: "a", from: "active", reason: "internal_error" }])
        assert.isUndefined(calls.find("a"))
        permitted(calls.permit({}))
        permitted(calls.permit({}))
      })
    )
  }

  it.effect("that cannot be claimed has no record and no place, and whoever started it learns why", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls(places, records)
      const refused = yield* Effect.flip(calls.start(permitted(calls.permit({ sessionId: "a" })), Effect.fail("used")))
      assert.strictEqual(refused, "used")
      const broken = yield* Effect.exit(calls.start(permitted(calls.permit({ sessionId: "a" })), boom))
      assert.strictEqual(broken._tag, "Failure")
      assert.deepStrictEqual(records.ends, [])
      permitted(calls.permit({ sessionId: "a" }))
    })
  )

  it.effect("whose record cannot be settled now still gives its place back", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const life: CallServices["life"] = { ...records.life, settle: () => boom }
      const calls = yield* makeCalls(places, records, { life })
      const { claim } = yield* answered(records, "a", { leg: () => boom })
      yield* calls.start(permitted(calls.permit({})), claim)
      yield* TestClock.adjust(10)
      permitted(calls.permit({}))
    })
  )

  it.effect("a second conversation of a dead one's session gets nothing of its leg", () =>
    Effect.gen(function* () {
      const records = new FakeRecords()
      const calls = yield* makeCalls(places, records)
      const leg = yield* FakeLeg.make()
      const { claim } = yield* answered(records, "a", {
        leg: (plan) =>
          Effect.as(
            Effect.andThen(
              Effect.addFinalizer(() => Effect.sync(() => leg.close("agent_hangup"))),
              plan
            ),
            leg
          ),
        plan: boom
      })
      yield* calls.start(permitted(calls.permit({})), claim)
      yield* TestClock.adjust(10)
      assert.strictEqual(leg.closed(), "agent_hangup")
      assert.strictEqual(records.ends.length, 1)
    })
  )
})
