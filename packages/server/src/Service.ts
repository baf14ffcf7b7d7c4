// The whole service as one layer: what is served, on what it stands. The choice of every part is made here.
import { NodeServices } from "@effect/platform-node"
import * as Maintenance from "@parley/workspace/Maintenance"
import { DataFolder, layer as database } from "@parley/workspace/storage/Database"
import * as Embedding from "@parley/workspace/knowledge/Embedding"
import * as Analyst from "@parley/workspace/analysis/Analyst"
import * as WebhookWorker from "@parley/workspace/webhooks/WebhookWorker"
import * as Workspace from "@parley/workspace/Workspace"
import { AppSettings } from "@parley/app/AppSettings"
import { Layer } from "effect"
import type { Config } from "./Config.ts"
import * as AnalysisModels from "@parley/app/analysis/AnalysisModels"
import { CallPlans } from "@parley/app/plan/CallPlans"
import { ExtraBodies } from "@parley/app/calls/ExtraBodies"
import { JoinTokens } from "@parley/app/sessions/JoinTokens"
import * as MediaCalls from "@parley/app/calls/MediaCalls"
import { HeldCalls } from "@parley/app/calls/HeldCalls"
import { ConsultationCalls } from "@parley/app/phone/ConsultationCalls"
import { PhoneDesk } from "@parley/app/phone/PhoneDesk"
import { SipServers } from "@parley/app/phone/SipServers"
import { PublicAccess } from "@parley/app/publicAccess/PublicAccess"
import { Recorder } from "@parley/app/recording/Recorder"
import * as RecordingRecovery from "@parley/app/recording/RecordingRecovery"
import { SessionRequests } from "@parley/app/sessions/SessionRequests"
import * as TestRunner from "@parley/app/agentTests/TestRunner"
import * as EngineParts from "./EngineParts.ts"
import { platformLayer } from "./Engines.ts"
import * as HttpApp from "./http/HttpApp.ts"
import { HttpListener } from "./http/HttpListener.ts"
import { WebSocketRoutes } from "./http/sockets/WebSocketRoutes.ts"
import { Settings } from "./Settings.ts"
import * as Signalling from "./http/Signalling.ts"
import * as SpeechParts from "./SpeechParts.ts"
import { version } from "./version.ts"

/** Listening when built. Fails with StartFault. */
export const layer = (config: Config, sipServers: Layer.Layer<SipServers> = SipServers.layer) => {
  const userAgent = `Parley/${version}`
  const hasJudgingModel = config.llm.providers.includes("openai")
  const settings = Layer.merge(
    Layer.succeed(Settings, config),
    Layer.succeed(AppSettings, { ...config, userAgent, hasJudgingModel })
  )
  const storage = Workspace.layer(config.secretKey).pipe(
    Layer.provideMerge(Layer.mergeAll(platformLayer, database(config))),
    Layer.provideMerge(DataFolder.layer(config))
  )
  const courier = WebhookWorker.layer({ vendor: config.vendor, userAgent })
  // Calls first: their recordings are settled after them.
  const maintenance = Layer.provideMerge(RecordingRecovery.layer, Maintenance.layer)
  const analyst = Layer.provide(Layer.mergeAll(Analyst.layer, TestRunner.layer), AnalysisModels.layer)
  const desk = Layer.mergeAll(JoinTokens.layer, ExtraBodies.layer, SpeechParts.layer, WebSocketRoutes.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(EngineParts.layer, HttpListener.layer)),
    Layer.provideMerge(ConsultationCalls.layer)
  )
  return HttpApp.layer.pipe(
    Layer.provideMerge(Signalling.layer),
    Layer.provideMerge(Layer.mergeAll(PublicAccess.layer, maintenance, Embedding.layer, courier, analyst)),
    Layer.provideMerge(Layer.mergeAll(SessionRequests.layer, Layer.provide(PhoneDesk.layer, sipServers))),
    Layer.provideMerge(MediaCalls.layer),
    Layer.provideMerge(Layer.mergeAll(CallPlans.layer, HeldCalls.layer)),
    Layer.provideMerge(Recorder.layer),
    Layer.provideMerge(desk),
    Layer.provideMerge(storage),
    Layer.provideMerge(Layer.mergeAll(settings, NodeServices.layer))
  )
}
