// What must happen to records though nobody asks: deadlines pass, processes die. Runs once before the layer is
// ready, so that a restart never shows a call as live that is not, then for ever.
import { Effect, Layer, Schedule } from "effect"
import { AuditLog } from "./identity/AuditLog.ts"
import { PhoneNumbers } from "./phone/PhoneNumbers.ts"
import { SessionLife } from "./sessions/SessionLife.ts"

/** Runs once before it is ready, then every second, five seconds, minute or hour, until its scope ends. */
export const layer: Layer.Layer<never, never, AuditLog | PhoneNumbers | SessionLife> = Layer.effectDiscard(
  Effect.gen(function* () {
    const life = yield* SessionLife
    const numbers = yield* PhoneNumbers
    const audit = yield* AuditLog
    yield* life.settleOrphans
    yield* life.expire
    yield* audit.expire
    yield* forever(life.expire, "1 second")
    yield* forever(life.settleOrphans, "5 seconds")
    yield* forever(numbers.settleUnfinished, "1 minute")
    yield* forever(numbers.chargeDays, "1 minute")
    yield* forever(audit.expire, "1 hour")
  })
)

const forever = (task: Effect.Effect<number>, every: "1 second" | "5 seconds" | "1 minute" | "1 hour") =>
  task.pipe(
    Effect.catchCause(() => Effect.logWarning("Maintenance failed and will be tried again")),
    Effect.repeat(Schedule.spaced(every)),
    Effect.delay(every),
    Effect.forkScoped
  )
