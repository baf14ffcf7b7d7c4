// How long from the caller's last voiced sample to the agent's first, on scripted engines; how much of
// it is the engine's own; how fast the agent falls silent when interrupted.
import { Effect } from "effect"
import { NodeRuntime } from "@effect/platform-node"
import { report } from "./report.ts"
import { components, layer, open } from "./scriptedCall.ts"

const calls = 8
const turns = 12
const answer = "Of course, that is number one on our list and it is open from nine to five."

interface Row {
  readonly mode: "speculative" | "sequential"
  readonly total: number
  readonly overhead: number
  readonly bargeIn: number
}

const conversation = (mode: Row["mode"], index: number) =>
  Effect.gen(function* () {
    const call = yield* open(`${mode}_${index}`, { speculativeResponse: mode === "speculative" })
    const { caller } = call.leg
    const rows: Array<Row> = []
    // Calls do not march in step.
    yield* Effect.sleep(137 * index)
    for (let turn = 0; turn < turns; turn++) {
      yield* caller.speaks(1_000)
      yield* caller.pauses(1_700)
      const latency = call.facts.findLast((fact) => fact._tag === "TurnMeasured")?.latency
      const onset = Date.now()
      yield* caller.speaks(600)
      const bargeIn = call.leg.lastPlayedAt() - onset
      yield* caller.pauses(100)
      if (latency === undefined) continue
      const configured = latency.endpointing_ms
      const waits =
        mode === "speculative" ? configured : configured + latency.asr_final_ms + components.llmMs + components.ttsMs
      rows.push({ mode, total: latency.total_ms, overhead: latency.total_ms - waits, bargeIn })
      // The interrupting words are answered and cut in turn, so that the next one starts from silence.
      yield* caller.pauses(1_500)
      caller.sends({ type: "user.interrupt" })
      yield* caller.pauses(200)
    }
    yield* call.end
    return rows
  })

const run = (mode: Row["mode"]) =>
  Effect.map(
    Effect.all(
      Array.from({ length: calls }, (_, i) => conversation(mode, i)),
      { concurrency: "unbounded" }
    ),
    (rows) => rows.flat()
  )

const of = (rows: ReadonlyArray<Row>, key: "total" | "overhead" | "bargeIn") => rows.map((row) => row[key])

const main = Effect.gen(function* () {
  const sequential = yield* run("sequential")
  const speculative = yield* run("speculative")
  report(
    "voice-to-voice",
    [
      {
        what: "engine overhead beyond the components' sum",
        unit: "ms",
        values: of(sequential, "overhead"),
        target: "p50 <= 5, p95 <= 15 (a peer's in-process session: 5-7 / 15-31)"
      },
      {
        what: "voice to voice, default config, speculation on",
        unit: "ms",
        values: of(speculative, "total"),
        target: "p50 <= 620, 550 of it the configured wait"
      },
      { what: "voice to voice, speculation off", unit: "ms", values: of(sequential, "total") },
      {
        what: "barge-in, onset to last agent frame, default sensitivity",
        unit: "ms",
        values: of([...speculative, ...sequential], "bargeIn"),
        target: "p50 <= 250"
      }
    ],
    [...sequential, ...speculative]
  )
}).pipe(Effect.provide(layer(answer)))

NodeRuntime.runMain(main)
