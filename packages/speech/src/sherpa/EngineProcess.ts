// An engine in a process of its own, kept alive: started in the background, started again when it died, later and
// later when it dies without having served. While it waits for its next start, asking for it fails at once, so that
// another provider is asked instead.
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { Deferred, Effect, Exit, Option } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"

export const provider = "sherpa"

export interface EngineProgram {
  /** The child's file; tests put in one that misbehaves. */
  readonly file: URL
  /** Given to it as JSON. */
  readonly task: unknown
  /** Longest time to load the model. */
  readonly startMs: number
}

export interface Engine<To, From> {
  readonly pid: number
  readonly tell: (message: To) => void
  /** Any number of listeners; returns how to stop listening. `onExit` is called once, at once when it is gone. */
  readonly listen: (listener: EngineListener<From>) => () => void
  /** It did some work: the next start after its death is not put off. */
  readonly served: () => void
  /** For a process that stopped answering. */
  readonly kill: () => void
}

export interface EngineListener<From> {
  readonly onMessage: (message: From) => void
  readonly onExit: () => void
}

export interface EngineProcess<To, From> {
  /** With its model loaded. Waits for a start under way, but for no later one. */
  readonly engine: Effect.Effect<Engine<To, From>, SpeechError>
  /** For people: why it did not start or died without serving; gone when it is up again. */
  readonly fault: () => string | undefined
}

const firstPauseMs = 500
const longestPauseMs = 30_000

export const keepEngine = Effect.fnUntraced(function* <To extends object, From extends { readonly _tag: string }>(
  program: EngineProgram
): Effect.fn.Return<EngineProcess<To, From>, never, Scope.Scope> {
  let current = Deferred.makeUnsafe<Engine<To, From>, SpeechError>()
  let fault: string | undefined
  let failures = 0

  const live = Effect.scoped(
    Effect.gen(function* () {
      const child = yield* Effect.acquireRelease(
        Effect.sync(() => spawn(program)),
        // SIGKILL: the engine may be deep in its work, and there is nothing to save.
        (child) => Effect.sync(() => child.kill("SIGKILL"))
      )
      const { engine, hasServed } = engineOf<To, From>(child)
      yield* ready(engine, program.startMs)
      fault = undefined
      Deferred.doneUnsafe(current, Exit.succeed(engine))
      yield* Effect.callback<void>((resume) => {
        const stop = engine.listen({
          onMessage: () => {},
          onExit: () => {
            // At once: who lost this engine and asks again is to wait for the next.
            current = Deferred.makeUnsafe()
            resume(Effect.void)
          }
        })
        return Effect.sync(stop)
      })
      failures = hasServed() ? 0 : failures + 1
      return failures === 0 ? undefined : "the engine process ended unasked"
    })
  )

  const round = Effect.gen(function* () {
    const exit = yield* Effect.result(live)
    const reason = exit._tag === "Success" ? exit.success : exit.failure.message
    if (exit._tag === "Failure") failures++
    if (reason === undefined) return yield* Effect.logWarning("engine process lost")
    fault = reason
    yield* Effect.logWarning(`engine process: ${reason}`)
    Deferred.doneUnsafe(current, Exit.fail(failure("Unavailable", reason)))
    yield* Effect.sleep(Math.min(longestPauseMs, firstPauseMs * 2 ** (failures - 1)))
    current = Deferred.makeUnsafe()
  })
  yield* Effect.forkScoped(Effect.forever(round))
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => Deferred.doneUnsafe(current, Exit.fail(failure("Unavailable", "stopped"))))
  )
  return {
    engine: Effect.suspend(() => Deferred.await(current)),
    fault: () => fault
  }
})

const ready = <To, From extends { readonly _tag: string }>(
  engine: Engine<To, From>,
  startMs: number
): Effect.Effect<void, SpeechError> =>
  Effect.callback<void, SpeechError>((resume) => {
    const stop = engine.listen({
      onMessage: (message) => {
        if (message._tag === "Ready") resume(Effect.void)
      },
      onExit: () => resume(Effect.fail(failure("Unavailable", "the engine process ended while it loaded the model")))
    })
    return Effect.sync(stop)
  }).pipe(
    Effect.timeoutOption(startMs),
    Effect.flatMap((loaded) =>
      Option.isSome(loaded) ? Effect.void : Effect.fail(failure("Timeout", "the model was not loaded in time"))
    )
  )

const spawn = (program: EngineProgram): ChildProcess =>
  fork(program.file, [JSON.stringify(program.task)], {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  })

const engineOf = <To extends object, From>(child: ChildProcess) => {
  const listeners = new Set<EngineListener<From>>()
  let gone = false
  let served = false
  const leave = () => {
    if (gone) return
    gone = true
    for (const listener of listeners) listener.onExit()
    listeners.clear()
  }
  child.on("message", (message: From) => {
    for (const listener of listeners) listener.onMessage(message)
  })
  child.on("error", leave)
  child.on("exit", leave)
  const engine: Engine<To, From> = {
    pid: child.pid ?? 0,
    tell: (message) => {
      // The callback takes a write to a process that has just died.
      if (!gone && child.connected) child.send(message, () => {})
    },
    listen: (listener) => {
      if (gone) listener.onExit()
      else listeners.add(listener)
      return () => listeners.delete(listener)
    },
    served: () => {
      served = true
    },
    kill: () => {
      leave()
      child.kill("SIGKILL")
    }
  }
  return { engine, hasServed: () => served }
}

export const failure = (reason: SpeechErrorReason, message: string): SpeechError =>
  new SpeechError({ reason, provider, message })
