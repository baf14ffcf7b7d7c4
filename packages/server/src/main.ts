// The service's entry: settings in, layers up, until a signal. SIGINT and SIGTERM drain and stop everything; a
// second one forces. What keeps it from starting is said in one line; exit code 75 asks to be started again.
import { NodeRuntime } from "@effect/platform-node"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Cause, Effect, Exit, Layer, Logger, References, Result } from "effect"
import { readConfig } from "./Config.ts"
import * as Greeting from "./Greeting.ts"
import { ProcessGuard, restartCode, TooManyFaults } from "./ProcessGuard.ts"
import * as Service from "./Service.ts"
import { forceOnSecondSignal, stopWithParent } from "./Signals.ts"
import * as Telemetry from "./telemetry/Telemetry.ts"

const logLevels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

const main = Effect.gen(function* () {
  const config = readConfig(process.env)
  if (Result.isFailure(config)) return yield* new StartFault({ message: config.failure })
  const service = Greeting.layer.pipe(
    Layer.provide(Service.layer(config.success)),
    Layer.provide(Telemetry.layer(process.env))
  )
  const logging = Layer.mergeAll(
    Logger.layer([Logger.consoleLogFmt]),
    Layer.succeed(References.MinimumLogLevel, logLevels[config.success.logLevel])
  )
  const guarded = Effect.gen(function* () {
    const { exceeded } = yield* ProcessGuard
    return yield* Effect.raceFirst(Layer.launch(service), exceeded)
  })
  return yield* guarded.pipe(Effect.provide(Layer.provideMerge(ProcessGuard.layer, logging)))
})

forceOnSecondSignal()
NodeRuntime.runMain(stopWithParent(main), {
  disableErrorReporting: true,
  teardown: (exit, end) => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return end(0)
    const error = Cause.squash(exit.cause)
    const isTold = error instanceof StartFault || error instanceof TooManyFaults
    process.stderr.write(isTold ? `parley: ${error.message}\n` : `parley: ${Cause.pretty(exit.cause)}\n`)
    end(error instanceof TooManyFaults ? restartCode : 1)
  }
})
