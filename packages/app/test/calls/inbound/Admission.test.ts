import { assert, describe, it } from "@effect/vitest"
import { Conflict } from "@parley/contract/Errors"
import { defaultPlan } from "@parley/engine/CallPlan"
import * as FakeLeg from "@parley/engine/testing/FakeLeg"
import type { AdmitPurpose } from "@parley/transport/livekit/LiveKitServer"
import type { ClaimedSession } from "@parley/workspace/sessions/PreparedSession"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { Deferred, Effect, Fiber, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Calls } from "../../../src/calls/Calls.ts"
import { bring, makeAdmission } from "../../../src/calls/inbound/Admission.ts"
import { CallPlans } from "../../../src/plan/CallPlans.ts"
import { JoinTokens } from "../../../src/calls/inbound/JoinTokens.ts"
import { FakeRecords, makeCalls } from "../../../src/testing/CallRehearsal.ts"

const unasked = () => Effect.die(new Error("not asked for"))

/** Sessions a, b and c are pending; a token is its session's id, `old` before it makes it an expired one. */
const signalling = Effect.fnUntraced(function* (capacity: number, broken: ReadonlyArray<string> = []) {
  const records = new FakeRecords()
  for (const id of ["a", "b", "c"]) records.open(id, "pending")
  const claimed: Array<string> = []
  const turnedAway: Array<string> = []
  const slow = yield* Deferred.make<void>()
  const calls = yield* makeCalls({ service: capacity }, records)
  const life: SessionLife["Service"] = {
    ...records.life,
    claim: (id) =>
      Effect.gen(function* () {
        if (records.status(id) !== "pending") return yield* new Conflict({ message: "not pending" })
        records.open(id, "active")
        claimed.push(id)
        if (id === "c") yield* Deferred.await(slow)
        return { row: { id } } as ClaimedSession
      }),
    pending: (id) =>
      Effect.sync(() =>
        records.status(id) === "pending" ? { workspaceId: "w", agentId: "a", isPublic: false } : undefined
      ),
    prepare: unasked,
    answered: unasked,
    expire: unasked(),
    settleOrphans: unasked()
  }
  const { admit } = yield* makeAdmission((sessionId) => turnedAway.push(sessionId)).pipe(
    Effect.provide(
      Layer.mergeAll(
        Layer.succeed(Calls, calls),
        Layer.succeed(SessionLife, life),
        Layer.succeed(CallPlans, {
          planFor: ({ row }) =>
            broken.includes(row.id) ? Effect.die("no plan") : Effect.sync(() => defaultPlan(row.id, ""))
        }),
        Layer.succeed(JoinTokens, {
          mint: unasked,
          verify: (token) => {
            const sessionId = token.replace("old ", "")
            if (!/^[a-z]$/.test(sessionId)) return Effect.succeed(undefined)
            const expired = token.startsWith("old ")
            return Effect.succeed({ sessionId, identity: `user_${sessionId}`, expiresAt: 0, expired })
          }
        })
      )
    )
  )
  const status = (token: string, purpose: AdmitPurpose) =>
    Effect.map(admit(token, purpose, "203.0.113.7"), (admitted) =>
      "refused" in admitted ? admitted.refused.status : 200
    )
  /** What the server of media signalling does. */
  const begin = Effect.fnUntraced(function* (id: string) {
    const leg = yield* FakeLeg.make()
    bring(calls.find(id), leg)
    yield* TestClock.adjust(100)
    return leg
  })
  const released = (id: string) =>
    Effect.suspend(() => {
      const call = calls.find(id)
      return call === undefined ? Effect.void : Deferred.succeed(call.released, undefined)
    })
  return { calls, status, claimed, turnedAway, records, slow, begin, released }
})

describe("Joins of media signalling", () => {
  it.effect("let a token join once; asking does not use it up", () =>
    Effect.gen(function* () {
      const { begin, claimed, released, status } = yield* signalling(5)
      assert.strictEqual(yield* status("a", "validate"), 200)
      assert.strictEqual(yield* status("a", "validate"), 200)
      assert.deepStrictEqual(claimed, [])
      assert.strictEqual(yield* status("a", "join"), 200)
      assert.strictEqual(yield* status("a", "join"), 401)
      // Its bearer comes back: live by this token.
      assert.strictEqual(yield* status("a", "rejoin"), 200)
      const leg = yield* begin("a")
      assert.strictEqual(yield* status("old a", "rejoin"), 200)
      assert.strictEqual(yield* status("a", "join"), 401)
      leg.caller.leaves()
      yield* TestClock.adjust(1000)
      yield* released("a")
      yield* TestClock.adjust(10)
      for (const purpose of ["join", "validate"] as const) assert.strictEqual(yield* status("a", purpose), 401)
      assert.strictEqual(yield* status("a", "rejoin"), 404)
      assert.deepStrictEqual(claimed, ["a"])
    })
  )

  it.effect("refuse what is no token, what is too old, and sessions unknown", () =>
    Effect.gen(function* () {
      const { claimed, status } = yield* signalling(5)
      for (const purpose of ["join", "rejoin", "validate"] as const) {
        assert.strictEqual(yield* status("forged", purpose), 401)
        assert.strictEqual(yield* status("old a", purpose), 401)
      }
      assert.strictEqual(yield* status("x", "join"), 401)
      assert.strictEqual(yield* status("x", "validate"), 401)
      assert.deepStrictEqual(claimed, [])
    })
  )

  it.effect("keep the token good when there is no free place", () =>
    Effect.gen(function* () {
      const { begin, claimed, released, status } = yield* signalling(1)
      assert.strictEqual(yield* status("a", "join"), 200)
      const leg = yield* begin("a")
      assert.strictEqual(yield* status("b", "validate"), 503)
      assert.strictEqual(yield* status("b", "join"), 503)
      // Its place is free when both the conversation and the server are done with it.
      leg.caller.leaves()
      yield* TestClock.adjust(1000)
      assert.strictEqual(yield* status("b", "join"), 503)
      yield* released("a")
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(claimed, ["a"])
      assert.strictEqual(yield* status("b", "join"), 200)
    })
  )

  it.effect("give the place of a server that never says it is done to another after a while", () =>
    Effect.gen(function* () {
      const { begin, status } = yield* signalling(1)
      yield* status("a", "join")
      const leg = yield* begin("a")
      leg.caller.leaves()
      yield* TestClock.adjust(4000)
      assert.strictEqual(yield* status("b", "join"), 200)
    })
  )

  it.effect("give one place to one of two who come at once", () =>
    Effect.gen(function* () {
      const { slow, status } = yield* signalling(1)
      const first = yield* Effect.forkChild(status("c", "join"), { startImmediately: true })
      assert.strictEqual(yield* status("c", "join"), 401)
      assert.strictEqual(yield* status("a", "join"), 503)
      yield* Deferred.succeed(slow, undefined)
      assert.strictEqual(yield* Fiber.join(first), 200)
    })
  )

  it.effect("free the place of a call that comes to nothing, and settle its record once", () =>
    Effect.gen(function* () {
      const { calls, records, status } = yield* signalling(1, ["b"])
      // Its plan cannot be made: a stored key does not open.
      yield* status("b", "join")
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(records.ends, [{ sessionId: "b", from: "active", reason: "internal_error" }])
      assert.strictEqual(yield* status("a", "join"), 200)
      // Media never flows.
      yield* TestClock.adjust("61 seconds")
      assert.deepInclude(records.ends[1], { sessionId: "a", reason: "internal_error" })
      assert.isUndefined(calls.find("a"))
      // Given up by the API before its media flowed; the leg that comes at the same moment is closed.
      const other = yield* signalling(1)
      yield* other.status("a", "join")
      const ending = yield* Effect.forkChild(other.calls.end("a"), { startImmediately: true })
      const late = yield* other.begin("a")
      yield* TestClock.adjust(5000)
      assert.isTrue(yield* Fiber.join(ending))
      assert.strictEqual(late.closed(), "agent_hangup")
      assert.deepStrictEqual(other.records.ends, [{ sessionId: "a", from: "active", reason: "cancelled" }])
      assert.deepStrictEqual(other.turnedAway, ["a"])
      assert.strictEqual(yield* other.status("b", "join"), 200)
    })
  )

  it.effect("let nobody in when the service stops, and those inside come back until they are gone", () =>
    Effect.gen(function* () {
      const { begin, calls, released, status } = yield* signalling(5)
      yield* status("a", "join")
      yield* begin("a")
      assert.isFalse(calls.isStopping())
      const draining = yield* Effect.forkChild(calls.drain, { startImmediately: true })
      assert.isTrue(calls.isStopping())
      assert.strictEqual(yield* status("b", "join"), 503)
      assert.strictEqual(yield* status("b", "validate"), 503)
      assert.strictEqual(yield* status("a", "rejoin"), 200)
      yield* released("a")
      yield* TestClock.adjust(5000)
      yield* Fiber.join(draining)
      assert.strictEqual(yield* status("a", "rejoin"), 404)
    })
  )
})
