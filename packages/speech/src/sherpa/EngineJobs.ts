// Work for one engine that does one thing at a time: urgent jobs first, a bounded line, and a bound on each wait for
// the engine's next word. A job that nobody wants any more leaves the line, or is cancelled and its end waited for,
// because the engine is busy with it until then.
import { Cause, Effect, Exit, Queue } from "effect"
import type { Scope } from "effect"
import type { SpeechError } from "../ports/SpeechError.ts"
import { failure } from "./EngineProcess.ts"
import type { Engine, EngineProcess } from "./EngineProcess.ts"
import type { FromEngine, ToEngine } from "./SherpaMessage.ts"

export interface EngineJobs {
  /** The engine's answers up to its `Done`. `Overloaded` when the line is full. */
  readonly submit: (
    order: (id: number) => ToEngine,
    urgent: boolean
  ) => Effect.Effect<Queue.Dequeue<FromEngine, SpeechError | Cause.Done>, SpeechError, Scope.Scope>
}

interface Job {
  readonly id: number
  readonly order: ToEngine
  readonly urgent: boolean
  readonly answers: Queue.Queue<FromEngine, SpeechError | Cause.Done>
  cancel: () => void
}

export const makeEngineJobs = Effect.fnUntraced(function* (
  process: EngineProcess<ToEngine, FromEngine>,
  options: { readonly mostWaiting: number; readonly answerMs: number }
): Effect.fn.Return<EngineJobs, never, Scope.Scope> {
  const line: Array<Job> = []
  const wake = yield* Queue.sliding<void>(1)
  let ids = 0

  const work = Effect.gen(function* () {
    const job = line.shift()
    if (job === undefined) return yield* Queue.take(wake)
    const result = yield* Effect.result(within(options.answerMs, process.engine))
    if (result._tag === "Failure") return Queue.failCauseUnsafe(job.answers, Cause.fail(result.failure))
    const done = yield* Effect.result(serve(result.success, job, options.answerMs))
    if (done._tag === "Failure") Queue.failCauseUnsafe(job.answers, Cause.fail(done.failure))
    else Queue.endUnsafe(job.answers)
  })
  yield* Effect.forkScoped(Effect.forever(work))

  const enqueue = Effect.fnUntraced(function* (order: (id: number) => ToEngine, urgent: boolean) {
    if (line.length >= options.mostWaiting) return yield* failure("Overloaded", "too much work is waiting")
    const id = ids++
    const answers = yield* Queue.unbounded<FromEngine, SpeechError | Cause.Done>()
    const job: Job = { id, order: order(id), urgent, answers, cancel: () => {} }
    const at = urgent ? line.findIndex((other) => !other.urgent) : -1
    line.splice(at === -1 ? line.length : at, 0, job)
    Queue.offerUnsafe(wake, undefined)
    return job
  })

  const leave = (job: Job) =>
    Effect.suspend(() => {
      const at = line.indexOf(job)
      if (at === -1) job.cancel()
      else line.splice(at, 1)
      return Queue.shutdown(job.answers)
    })

  return {
    submit: (order, urgent) =>
      Effect.map(Effect.acquireRelease(enqueue(order, urgent), leave), ({ answers }) => answers)
  }
})

/** Until the engine is through with the job. One that stopped answering is killed. */
const serve = Effect.fnUntraced(function* (engine: Engine<ToEngine, FromEngine>, job: Job, answerMs: number) {
  const inbox = yield* Queue.unbounded<FromEngine, SpeechError>()
  const stop = engine.listen({
    onMessage: (message) => {
      if (message._tag !== "Ready" && message.id === job.id) Queue.offerUnsafe(inbox, message)
    },
    onExit: () => Queue.failCauseUnsafe(inbox, Cause.fail(failure("Unavailable", "the engine process died")))
  })
  job.cancel = () => engine.tell({ _tag: "Cancel", id: job.id })
  engine.tell(job.order)
  return yield* Effect.gen(function* () {
    for (;;) {
      const message = yield* within(answerMs, Queue.take(inbox))
      if (message._tag === "Failed") return yield* failure("InvalidOutput", "the engine refused its work")
      engine.served()
      if (message._tag === "Done") return
      Queue.offerUnsafe(job.answers, message)
    }
  }).pipe(
    Effect.onExit((exit) =>
      Effect.sync(() => {
        stop()
        job.cancel = () => {}
        if (Exit.isFailure(exit) && isTimeout(Cause.squash(exit.cause))) engine.kill()
      })
    )
  )
})

const isTimeout = (error: unknown): boolean =>
  typeof error === "object" && error !== null && "reason" in error && error.reason === "Timeout"

const within = <A, E>(ms: number, effect: Effect.Effect<A, E>): Effect.Effect<A, E | SpeechError> =>
  Effect.timeoutOrElse(effect, {
    duration: ms,
    orElse: () => Effect.fail(failure("Timeout", "the engine did not answer"))
  })
