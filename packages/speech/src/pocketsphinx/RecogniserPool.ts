// Recogniser processes, one per stream and never more than the pool's size: each holds about 100 MB and takes
// half a second to load. One is kept warm, and one more that comes back, so that calls in a row start none.
// A stream hands its process back, or its place when the process died.
import { Deferred, Effect, Exit, Queue, Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import { startRecogniser } from "./RecogniserProcess.ts"
import type { RecogniserProcess, RecogniserProgram } from "./RecogniserProcess.ts"

export interface RecogniserPool {
  /** A loaded process for as long as the scope lives. Fails with `Overloaded` beyond the pool's size. */
  readonly take: Effect.Effect<RecogniserProcess, SpeechError, Scope.Scope>
  /** Processes alive or starting. */
  readonly size: () => number
}

interface Member {
  readonly process: RecogniserProcess
  readonly scope: Scope.Closeable
}

export const makeRecogniserPool = Effect.fnUntraced(function* (
  program: RecogniserProgram,
  poolSize: number
): Effect.fn.Return<RecogniserPool, never, Scope.Scope> {
  const poolScope = yield* Effect.scope
  const warm = Math.min(1, poolSize)
  const mostIdle = warm + 1
  const idle: Array<Member> = []
  const waiting: Array<Deferred.Deferred<Member, SpeechError>> = []
  const wake = yield* Queue.sliding<void>(1)
  let size = 0
  let starting = 0

  const retire = Effect.fnUntraced(function* (member: Member) {
    size--
    yield* Scope.close(member.scope, Exit.void)
    Queue.offerUnsafe(wake, undefined)
  })

  const give = (member: Member): void => {
    const first = waiting.shift()
    if (first === undefined) keep(member)
    else Deferred.doneUnsafe(first, Exit.succeed(member))
  }

  const keep = (member: Member): void => {
    idle.push(member)
    member.process.listen({
      onMessage: () => {},
      onExit: () => {
        idle.splice(idle.indexOf(member), 1)
        Effect.runFork(retire(member))
      }
    })
  }

  /** A place in the pool becomes a process, or is free again and one waiter hears why. */
  const start = Effect.gen(function* () {
    size++
    starting++
    const scope = yield* Scope.fork(poolScope)
    const result = yield* Effect.exit(Scope.provide(startRecogniser(program), scope))
    starting--
    if (result._tag === "Success") return give({ process: result.value, scope })
    size--
    yield* Scope.close(scope, Exit.void)
    const first = waiting.shift()
    if (first !== undefined) Deferred.doneUnsafe(first, Exit.fail(failure("Unavailable", "no recogniser process")))
    yield* Effect.sleep(1000)
    Queue.offerUnsafe(wake, undefined)
  })

  yield* Queue.take(wake).pipe(
    Effect.tap(() =>
      idle.length + starting < warm + waiting.length && size < poolSize ? Effect.forkIn(start, poolScope) : Effect.void
    ),
    Effect.forever,
    Effect.forkScoped
  )
  Queue.offerUnsafe(wake, undefined)

  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      for (const place of waiting.splice(0)) {
        Deferred.doneUnsafe(place, Exit.fail(failure("Unavailable", "stopped")))
      }
    })
  )

  const queueUp = Effect.fnUntraced(function* () {
    if (starting <= waiting.length && size >= poolSize) {
      return yield* failure("Overloaded", "every recogniser process is taken")
    }
    const place = yield* Deferred.make<Member, SpeechError>()
    waiting.push(place)
    if (starting < waiting.length) yield* Effect.forkIn(start, poolScope)
    return yield* Deferred.await(place).pipe(Effect.onInterrupt(() => leave(place)))
  })

  /** A waiter that left may have been given a process meanwhile: back with it. */
  const leave = (place: Deferred.Deferred<Member, SpeechError>) =>
    Effect.suspend(() => {
      const at = waiting.indexOf(place)
      if (at !== -1) return Effect.sync(() => waiting.splice(at, 1))
      return Effect.matchEffect(Deferred.await(place), { onFailure: () => Effect.void, onSuccess: putBack })
    })

  const putBack = Effect.fnUntraced(function* (member: Member) {
    if (!member.process.alive()) {
      yield* Effect.logWarning("recogniser process lost")
      return yield* retire(member)
    }
    if (waiting.length > 0 || idle.length < mostIdle) return give(member)
    yield* retire(member)
  })

  const acquire = Effect.suspend(() => {
    const ready = idle.pop()
    Queue.offerUnsafe(wake, undefined)
    return ready === undefined ? queueUp() : Effect.succeed(ready)
  })

  return {
    size: () => size,
    take: Effect.map(Effect.acquireRelease(acquire, putBack, { interruptible: true }), (member) => member.process)
  }
})

const failure = (reason: "Unavailable" | "Overloaded", message: string): SpeechError =>
  new SpeechError({ reason, provider: "pocketsphinx", message })
