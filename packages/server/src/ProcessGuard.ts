// What nobody caught. A fault that a library throws from its own timer or socket ends the call or connection it belongs to
// (transport/FaultOwner); one that belongs to nobody is logged with its stack and counted, and after a few of them in a
// minute the service drains and exits with `restartCode`, so that its supervisor starts a fresh one.
import { faultOwner } from "@parley/transport/FaultOwner"
import { Context, Data, Deferred, Effect, Layer, Metric } from "effect"

/** EX_TEMPFAIL of sysexits.h: start me again. */
export const restartCode = 75

/** Faults without an owner that a process survives in one window. */
const mostUnowned = 5
const windowMs = 60_000

/** Too many faults in a minute: what this process holds in memory cannot be trusted any longer. */
export class TooManyFaults extends Data.TaggedError("TooManyFaults")<{ readonly faults: number }> {
  override readonly message = `${this.faults} faults without an owner in a minute; a fresh process is needed`
}

const faults = Metric.counter("parley_uncaught_faults_total", {
  description: "Faults that no code caught, by what ended with them",
  incremental: true
})

/** Guards the process until its scope closes. */
export class ProcessGuard extends Context.Service<
  ProcessGuard,
  {
    /** Fails when there were too many faults without an owner. */
    readonly exceeded: Effect.Effect<never, TooManyFaults>
  }
>()("@parley/server/ProcessGuard") {
  static readonly layer: Layer.Layer<ProcessGuard> = Layer.effect(
    ProcessGuard,
    Effect.gen(function* () {
      const run = Effect.runForkWith(yield* Effect.context<never>())
      const tooMany = yield* Deferred.make<never, TooManyFaults>()
      let unowned: ReadonlyArray<number> = []

      const onFault = (error: unknown): void => {
        const owner = faultOwner()
        const kind = owner?.kind ?? "none"
        run(
          Effect.logError(`A fault that nobody caught; ended: ${kind}`, traceOf(error)).pipe(
            Effect.andThen(Metric.update(Metric.withAttributes(faults, { ended: kind }), 1))
          )
        )
        if (owner !== undefined) return owner.fail()
        const now = performance.now()
        unowned = [...unowned.filter((at) => now - at < windowMs), now]
        if (unowned.length > mostUnowned) {
          Deferred.doneUnsafe(tooMany, Effect.fail(new TooManyFaults({ faults: unowned.length })))
        }
      }
      // A rejection that nobody handles arrives here, too.
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("uncaughtException", onFault)),
        () => Effect.sync(() => process.off("uncaughtException", onFault))
      )
      return { exceeded: Deferred.await(tooMany) }
    })
  )
}

/** The stack. The message only of the language's own errors: others may quote what a client sent. */
const traceOf = (error: unknown): string => {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`
  const isOwnWords = error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError
  const code = "code" in error && typeof error.code === "string" ? ` ${error.code}` : ""
  const frames = (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line))
  return [`${error.name}${code}${isOwnWords ? `: ${error.message}` : ""}`, ...frames].join("\n")
}
