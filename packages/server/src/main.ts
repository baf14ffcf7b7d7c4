// The service: a list of layers, launched. SIGINT and SIGTERM drain and stop everything; a second one forces.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import * as Housekeeping from "@parley/workspace/Housekeeping"
import { DataFolder, layer as database } from "@parley/workspace/storage/Database"
import { StartFault } from "@parley/workspace/storage/StartFault"
import * as Workspace from "@parley/workspace/Workspace"
import { Cause, Effect, Exit, Layer, Logger, References, Result } from "effect"
import { type Config, readConfig } from "./Config.ts"
import { CallPlans } from "./desk/CallPlans.ts"
import { ExtraBodies } from "./desk/ExtraBodies.ts"
import { JoinTokens } from "./desk/JoinTokens.ts"
import { LiveCalls } from "./desk/LiveCalls.ts"
import { ServingHealth } from "./desk/ServingHealth.ts"
import { SessionDesk } from "./desk/SessionDesk.ts"
import { platformLayer } from "./Engines.ts"
import * as Greeting from "./Greeting.ts"
import * as HttpApp from "./http/HttpApp.ts"
import { MediaDoor } from "./http/MediaDoor.ts"
import { Settings } from "./Settings.ts"
import { forceOnSecondSignal, stopWithParent } from "./Signals.ts"
import * as Telemetry from "./telemetry/Telemetry.ts"

const service = (config: Config) => {
  const settings = Layer.succeed(Settings, config)
  const folder = DataFolder.layer(config)
  const storage = Workspace.layer(config.secretKey).pipe(
    Layer.provideMerge(Layer.mergeAll(platformLayer.pipe(Layer.provide(settings)), database(config))),
    Layer.provideMerge(folder)
  )
  const serving = Layer.succeed(ServingHealth, { snapshot: Effect.succeed({ tts: [], asr: [], llm: [] }) })
  const calls = LiveCalls.layerWithoutMedia
  return Greeting.layer.pipe(
    Layer.provideMerge(HttpApp.layer),
    Layer.provideMerge(Layer.mergeAll(SessionDesk.layer, Housekeeping.layer)),
    Layer.provideMerge(calls),
    Layer.provideMerge(CallPlans.layer),
    Layer.provideMerge(Layer.mergeAll(JoinTokens.layer, ExtraBodies.layer, serving, MediaDoor.layer)),
    Layer.provideMerge(storage),
    Layer.provideMerge(Layer.mergeAll(settings, NodeServices.layer)),
    Layer.provide(Telemetry.layer(process.env)),
    Layer.provide(Logger.layer([Logger.consoleLogFmt])),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, logLevels[config.logLevel]))
  )
}

const logLevels = { debug: "Debug", info: "Info", warn: "Warn", error: "Error" } as const

const main = Effect.gen(function* () {
  const config = readConfig(process.env)
  if (Result.isFailure(config)) return yield* new StartFault({ message: config.failure })
  return yield* Layer.launch(service(config.success))
})

forceOnSecondSignal()
NodeRuntime.runMain(stopWithParent(main), {
  disableErrorReporting: true,
  teardown: (exit, end) => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return end(0)
    const error = Cause.squash(exit.cause)
    process.stderr.write(
      error instanceof StartFault ? `parley: ${error.message}\n` : `parley: ${Cause.pretty(exit.cause)}\n`
    )
    end(1)
  }
})
