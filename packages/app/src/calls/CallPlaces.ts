// The places of this process's calls, for who counts them (`Calls`) and for calls that a call places for itself.
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Clock, Context, Effect, Layer, Schedule } from "effect"
import { AppSettings } from "../AppSettings.ts"
import { limitsOf } from "./callLimits.ts"
import { Places } from "./Places.ts"

/** A new workspace has its part of the places after this time. */
const countMs = 30_000

/** One count for every way a call begins. */
export class CallPlaces extends Context.Service<CallPlaces, Places>()("@parley/app/CallPlaces") {
  static readonly layer: Layer.Layer<CallPlaces, never, AppSettings | Workspaces> = Layer.effect(
    CallPlaces,
    Effect.gen(function* () {
      const { limits } = yield* AppSettings
      const workspaces = yield* countWorkspaces
      const clock = yield* Clock.Clock
      return new Places(limitsOf(limits, workspaces), () => clock.currentTimeMillisUnsafe())
    })
  )
}

/** How many workspaces there are, looked at now and then. */
const countWorkspaces = Effect.gen(function* () {
  const { count } = yield* Workspaces
  let known = yield* count
  const look = Effect.map(count, (found) => {
    known = found
  })
  yield* Effect.forkScoped(Effect.schedule(Effect.ignoreCause(look), Schedule.spaced(countMs)))
  return () => known
})
