import { assert, describe, it } from "@effect/vitest"
import { defaultPlan } from "@parley/engine/CallPlan"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as Admission from "../../src/calls/Admission.ts"

/** Sessions a, b and c are pending; a token is its session's id, `old` before it makes it an expired one. */
const office = Effect.fnUntraced(function* (
  capacity: number,
  broken: ReadonlyArray<string> = [],
  elsewhere: () => number = () => 0
) {
  const pending = new Set(["a", "b", "c"])
  const claimed: Array<string> = []
  const givenUp: Array<string> = []
  const slow = yield* Deferred.make<void>()
  const admission = yield* Admission.make({
    tokens: {
      verify: (token) => {
        const sessionId = token.replace("old ", "")
        if (!/^[a-z]$/.test(sessionId)) return undefined
        return { sessionId, identity: `user_${sessionId}`, expiresAt: 0, expired: token.startsWith("old ") }
      }
    },
    claim: (id) =>
      Effect.gen(function* () {
        if (!pending.delete(id)) return yield* Effect.fail("not pending")
        claimed.push(id)
        if (broken.includes(id)) return yield* Effect.die("no plan")
        if (id === "c") yield* Deferred.await(slow)
        return defaultPlan(id, "")
      }),
    isOpen: (id) => Effect.sync(() => pending.has(id)),
    giveUp: (id) => Effect.sync(() => givenUp.push(id)),
    capacity,
    elsewhere
  })
  const status = (token: string, purpose: "join" | "rejoin" | "validate") =>
    Effect.map(admission.admit(token, purpose), (verdict) => ("refused" in verdict ? verdict.refused.status : 200))
  return { ...admission, status, claimed, givenUp, slow }
})

describe("Admission", () => {
  it.effect("leaves the places that another door has taken, and tells of its own", () =>
    Effect.gen(function* () {
      let telephone = 1
      const { status, taken } = yield* office(2, [], () => telephone)
      assert.strictEqual(yield* status("a", "join"), 200)
      assert.strictEqual(taken(), 1)
      assert.strictEqual(yield* status("b", "join"), 503)
      telephone = 0
      assert.strictEqual(yield* status("b", "join"), 200)
      assert.strictEqual(taken(), 2)
    })
  )

  it.effect("lets a token join once; asking does not use it up", () =>
    Effect.gen(function* () {
      const { begin, claimed, ended, released, status } = yield* office(5)
      assert.strictEqual(yield* status("a", "validate"), 200)
      assert.strictEqual(yield* status("a", "validate"), 200)
      assert.deepStrictEqual(claimed, [])
      assert.strictEqual(yield* status("a", "join"), 200)
      assert.strictEqual(yield* status("a", "join"), 401)
      // Its bearer comes back: live by this token.
      assert.strictEqual(yield* status("a", "rejoin"), 200)
      assert.strictEqual(begin("a")?.sessionId, "a")
      assert.isUndefined(begin("a"))
      assert.strictEqual(yield* status("old a", "rejoin"), 200)
      assert.strictEqual(yield* status("a", "join"), 401)
      ended("a")
      assert.isFalse(released("a"))
      for (const purpose of ["join", "validate"] as const) assert.strictEqual(yield* status("a", purpose), 401)
      assert.strictEqual(yield* status("a", "rejoin"), 404)
      assert.deepStrictEqual(claimed, ["a"])
    })
  )

  it.effect("refuses what is no token, what is too old, and sessions unknown", () =>
    Effect.gen(function* () {
      const { claimed, status } = yield* office(5)
      for (const purpose of ["join", "rejoin", "validate"] as const) {
        assert.strictEqual(yield* status("forged", purpose), 401)
        assert.strictEqual(yield* status("old a", purpose), 401)
      }
      assert.strictEqual(yield* status("x", "join"), 401)
      assert.strictEqual(yield* status("x", "validate"), 401)
      assert.deepStrictEqual(claimed, [])
    })
  )

  it.effect("keeps the token good when there is no free place", () =>
    Effect.gen(function* () {
      const { begin, claimed, ended, released, status } = yield* office(1)
      assert.strictEqual(yield* status("a", "join"), 200)
      begin("a")
      assert.strictEqual(yield* status("b", "validate"), 503)
      assert.strictEqual(yield* status("b", "join"), 503)
      // Its seat is free when both the door and the engine are done with it.
      released("a")
      assert.strictEqual(yield* status("b", "join"), 503)
      ended("a")
      assert.deepStrictEqual(claimed, ["a"])
      assert.strictEqual(yield* status("b", "join"), 200)
    })
  )

  it.effect("gives one seat to one of two who come at once", () =>
    Effect.gen(function* () {
      const { slow, status } = yield* office(1)
      const first = yield* Effect.forkChild(status("c", "join"), { startImmediately: true })
      assert.strictEqual(yield* status("c", "join"), 401)
      assert.strictEqual(yield* status("a", "join"), 503)
      yield* Deferred.succeed(slow, undefined)
      assert.strictEqual(yield* Fiber.join(first), 200)
    })
  )

  it.effect("frees the seat of a call that comes to nothing", () =>
    Effect.gen(function* () {
      const { begin, cancel, givenUp, released, status } = yield* office(1, ["b"])
      assert.strictEqual((yield* Effect.exit(status("b", "join")))._tag, "Failure")
      assert.strictEqual(yield* status("a", "join"), 200)
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(givenUp, ["a"])
      assert.isUndefined(begin("a"))
      const other = yield* office(1)
      yield* other.status("a", "join")
      assert.isTrue(other.cancel("a"))
      assert.isUndefined(other.begin("a"))
      assert.isFalse(other.released("a"))
      assert.strictEqual(yield* other.status("b", "join"), 200)
      assert.isTrue(other.released("b"))
      yield* TestClock.adjust("60 seconds")
      assert.deepStrictEqual(other.givenUp, [])
      assert.isFalse(cancel("a"))
      assert.isFalse(released("a"))
    })
  )

  it.effect("lets nobody in once it is closed, and those inside come back", () =>
    Effect.gen(function* () {
      const { close, isClosed, status } = yield* office(5)
      yield* status("a", "join")
      assert.isFalse(isClosed())
      close()
      assert.isTrue(isClosed())
      assert.strictEqual(yield* status("b", "join"), 503)
      assert.strictEqual(yield* status("b", "validate"), 503)
      assert.strictEqual(yield* status("a", "rejoin"), 200)
    })
  )
})
