// A child's failures reach who answers for them, whatever kind they are and whenever they happen.
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Scope } from "effect"
import { forkSupervised, guarded, type Policy, supervise } from "../src/supervise.ts"

const watched = () => {
  const seen: Array<string> = []
  const policy: Policy<string> = {
    child: "Child",
    onFailure: (error) => void seen.push(`failure: ${error}`),
    onDefect: (cause, child) => void seen.push(`defect in ${child}: ${(Cause.squash(cause) as Error).message}`)
  }
  return { seen, policy }
}

const bug = (): never => {
  throw new Error("a bug")
}

describe("supervise", () => {
  it.effect("tells a failure and a defect apart, and fails with neither", () =>
    Effect.gen(function* () {
      const { policy, seen } = watched()
      yield* supervise(Effect.succeed(1), policy)
      yield* supervise(Effect.fail("down"), policy)
      yield* supervise(Effect.sync(bug), policy)
      assert.deepStrictEqual(seen, ["failure: down", "defect in Child: a bug"])
    })
  )

  it.effect("takes what a failure's handler throws for a defect", () =>
    Effect.gen(function* () {
      const { policy, seen } = watched()
      yield* supervise(Effect.fail("down"), { ...policy, onFailure: bug })
      assert.deepStrictEqual(seen, ["defect in Child: a bug"])
    })
  )

  it.effect("says nothing of an interruption, but of a defect on the way out", () =>
    Effect.gen(function* () {
      const { policy, seen } = watched()
      const scope = yield* Scope.make()
      const quiet = yield* forkSupervised(scope, Effect.never, policy)
      yield* forkSupervised(scope, Effect.ensuring(Effect.never, Effect.sync(bug)), policy)
      yield* Effect.yieldNow
      yield* Scope.close(scope, Exit.void)
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(quiet)))
      assert.deepStrictEqual(seen, ["defect in Child: a bug"])
    })
  )

  it("keeps what a callback throws from who calls it", () => {
    const { policy, seen } = watched()
    guarded("Child", policy.onDefect, bug)(undefined)
    assert.deepStrictEqual(seen, ["defect in Child: a bug"])
  })
})
