// The whole service as one layer: what is served, on what it stands. The choice of every part is made here.
import { NodeServices } from "@effect/platform-node"
import * as Housekeeping from "@parley/workspace/Housekeeping"
import { DataFolder, layer as database } from "@parley/workspace/storage/Database"
import * as Embedding from "@parley/workspace/knowledge/Embedding"
import * as Analyst from "@parley/workspace/analysis/Analyst"
import * as Courier from "@parley/workspace/webhooks/Courier"
import * as Workspace from "@parley/workspace/Workspace"
import { Layer } from "effect"
import type { Config } from "./Config.ts"
import * as AnalysisMinds from "./desk/AnalysisMinds.ts"
import { CallPlans } from "./desk/CallPlans.ts"
import { ExtraBodies } from "./desk/ExtraBodies.ts"
import { JoinTokens } from "./desk/JoinTokens.ts"
import * as MediaCalls from "./desk/MediaCalls.ts"
import { HeldCalls } from "./desk/HeldCalls.ts"
import { Consults } from "./desk/phone/Consults.ts"
import { PhoneDesk } from "./desk/phone/PhoneDesk.ts"
import { PhoneDoors } from "./desk/phone/PhoneDoors.ts"
import { PublicDesk } from "./desk/PublicDesk.ts"
import { Recorder } from "./desk/recording/Recorder.ts"
import * as RecordingKeeper from "./desk/recording/RecordingKeeper.ts"
import { SessionDesk } from "./desk/SessionDesk.ts"
import * as TestRunner from "./desk/TestRunner.ts"
import * as EngineParts from "./EngineParts.ts"
import { platformLayer } from "./Engines.ts"
import * as HttpApp from "./http/HttpApp.ts"
import { MediaDoor } from "./http/MediaDoor.ts"
import { SocketDoor } from "./http/sockets/SocketDoor.ts"
import { Settings } from "./Settings.ts"
import * as SpeechParts from "./SpeechParts.ts"
import { version } from "./version.ts"

/** Listening when built. Fails with StartFault. */
export const layer = (config: Config, phoneDoors: Layer.Layer<PhoneDoors> = PhoneDoors.layer) => {
  const settings = Layer.succeed(Settings, config)
  const storage = Workspace.layer(config.secretKey).pipe(
    Layer.provideMerge(Layer.mergeAll(platformLayer, database(config))),
    Layer.provideMerge(DataFolder.layer(config))
  )
  const courier = Courier.layer({ vendor: config.vendor, userAgent: `Parley/${version}` })
  // Calls first: their recordings are settled after them.
  const housekeeping = Layer.provideMerge(RecordingKeeper.layer, Housekeeping.layer)
  const analyst = Layer.provide(Layer.mergeAll(Analyst.layer, TestRunner.layer), AnalysisMinds.layer)
  const desk = Layer.mergeAll(JoinTokens.layer, ExtraBodies.layer, SpeechParts.layer, SocketDoor.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(EngineParts.layer, MediaDoor.layer)),
    Layer.provideMerge(Consults.layer)
  )
  return HttpApp.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(PublicDesk.layer, housekeeping, Embedding.layer, courier, analyst)),
    Layer.provideMerge(Layer.mergeAll(SessionDesk.layer, Layer.provide(PhoneDesk.layer, phoneDoors))),
    Layer.provideMerge(MediaCalls.layer),
    Layer.provideMerge(Layer.mergeAll(CallPlans.layer, HeldCalls.layer)),
    Layer.provideMerge(Recorder.layer),
    Layer.provideMerge(desk),
    Layer.provideMerge(storage),
    Layer.provideMerge(Layer.mergeAll(settings, NodeServices.layer))
  )
}
