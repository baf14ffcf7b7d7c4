// What a call costs to open and close, and whether everything comes back: a thousand of them.
import { Effect } from "effect"
import { NodeRuntime } from "@effect/platform-node"
import { report } from "./report.ts"
import { layer, open } from "./scriptedCall.ts"

const rounds = 20
const perRound = 50

const settled = (): { readonly heapMb: number; readonly handles: number } => {
  globalThis.gc?.()
  globalThis.gc?.()
  return { heapMb: process.memoryUsage().heapUsed / 2 ** 20, handles: process.getActiveResourcesInfo().length }
}

const main = Effect.gen(function* () {
  const closes: Array<number> = []
  const rows: Array<unknown> = []
  const round = (number: number) =>
    Effect.gen(function* () {
      const opened = yield* Effect.forEach(
        Array.from({ length: perRound }, (_, i) => i),
        (i) => open(`${number}_${i}`)
      )
      // In the middle of something: a reply out, a voice on.
      yield* Effect.all(
        opened.map((call) => {
          call.leg.caller.sends({ type: "user.message", text: "hello" })
          return call.leg.caller.speaks(300)
        }),
        { concurrency: "unbounded", discard: true }
      )
      for (const call of opened) {
        const before = performance.now()
        yield* call.end
        closes.push(performance.now() - before)
      }
    }).pipe(
      // The scripted engines keep what was asked of them: a round has its own.
      Effect.provide(layer("All right, here is a rather long answer to your question.")),
      Effect.andThen(Effect.sleep(50)),
      Effect.map(() => {
        const after = settled()
        rows.push({ number, ...after })
        return after
      })
    )
  // The first rounds fill caches.
  yield* round(-2)
  const start = yield* round(-1)
  closes.length = 0
  for (let number = 0; number < rounds; number++) yield* round(number)
  const end = settled()
  report("sessions", [{ what: "close of a session in full use", unit: "ms", values: closes, target: "<= 20" }], rows)
  console.log(
    `${rounds * perRound} sessions opened and closed: heap ${start.heapMb.toFixed(1)} -> ${end.heapMb.toFixed(1)} MB, ` +
      `handles ${start.handles} -> ${end.handles}   target: back to start`
  )
})

NodeRuntime.runMain(main)
