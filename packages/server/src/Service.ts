// The whole service as one layer: what is served, on what it stands. The choice of every part is made here. The first
// import has schemas compiled to functions when they are first used: rows, bodies and answers are decoded and encoded up
// to fourteen times faster; where code cannot be generated they are interpreted. It must stay before all others.
import "effect/schema/SchemaJITCompiler/enable"
import { NodeServices } from "@effect/platform-node"
import * as TestRunner from "@parley/app/agentTests/TestRunner"
import * as AnalysisModels from "@parley/app/analysis/AnalysisModels"
import { AppSettings } from "@parley/app/AppSettings"
import { CallPlaces } from "@parley/app/calls/CallPlaces"
import { Calls } from "@parley/app/calls/Calls"
import * as InboundSip from "@parley/app/calls/inbound/Sip"
import { WebRtcCalls } from "@parley/app/calls/inbound/WebRtc"
import { OutboundCalls } from "@parley/app/calls/Outbound"
import { ConsultationCalls } from "@parley/app/calls/transfers/ConsultationCalls"
import { TransferGate } from "@parley/app/calls/transfers/TransferGate"
import { type OpenSipServer, Telephone } from "@parley/app/phone/Telephone"
import { CallPlans } from "@parley/app/plan/CallPlans"
import { PublicAccess } from "@parley/app/publicAccess/PublicAccess"
import { Recorder } from "@parley/app/recording/Recorder"
import * as RecordingRecovery from "@parley/app/recording/RecordingRecovery"
import { JoinTokens } from "@parley/app/calls/inbound/JoinTokens"
import { SessionRequests } from "@parley/app/sessions/SessionRequests"
import * as Analyst from "@parley/workspace/analysis/Analyst"
import * as Retention from "@parley/workspace/Retention"
import * as Maintenance from "@parley/workspace/Maintenance"
import * as Embedding from "@parley/workspace/knowledge/Embedding"
import { DataFolder, layer as database } from "@parley/workspace/storage/Database"
import * as SecretRotation from "@parley/workspace/SecretRotation"
import * as WebhookWorker from "@parley/workspace/webhooks/WebhookWorker"
import * as Workspace from "@parley/workspace/Workspace"
import { Layer } from "effect"
import type { Config } from "./Config.ts"
import * as EngineParts from "./EngineParts.ts"
import { platformLayer } from "./Engines.ts"
import * as HttpApp from "./HttpApp.ts"
import { HttpListener } from "./http/HttpListener.ts"
import { KeyCheck } from "./http/KeyCheck.ts"
import * as Signalling from "./http/Signalling.ts"
import { UnauthenticatedSockets } from "./http/sockets/UnauthenticatedSockets.ts"
import { WebSocketRoutes } from "./http/sockets/WebSocketRoutes.ts"
import { Settings } from "./Settings.ts"
import * as SpeechParts from "./SpeechParts.ts"
import { version } from "./version.ts"

/** Listening when built. Fails with StartFault. `sipServer`: in place of the one on the network. */
export const layer = (config: Config, sipServer?: OpenSipServer) => {
  const userAgent = `Parley/${version}`
  const settings = Layer.merge(
    Layer.succeed(Settings, config),
    Layer.succeed(AppSettings, {
      ...config,
      userAgent,
      limits: { service: EngineParts.capacity(config), ...config.maxCallsOf },
      hasJudgingModel: config.llm.providers.includes("openai")
    })
  )
  const storage = Workspace.layer(config.secretKey, config.formerSecretKeys).pipe(
    Layer.provideMerge(Layer.mergeAll(platformLayer, database(config))),
    Layer.provideMerge(DataFolder.layer(config))
  )
  const telephone = sipServer === undefined ? Telephone.layer : Telephone.layerWith(sipServer)
  // Closed after the calls: they speak over it to their end.
  const engines = EngineParts.layer.pipe(
    Layer.provideMerge(ConsultationCalls.layer),
    Layer.provideMerge(TransferGate.layer),
    Layer.provideMerge(CallPlaces.layer),
    Layer.provideMerge(Layer.mergeAll(telephone, HttpListener.layer, Recorder.layer))
  )
  const calls = Layer.mergeAll(WebRtcCalls.layer, InboundSip.layer, OutboundCalls.layer, SessionRequests.layer).pipe(
    Layer.provideMerge(Calls.layer),
    Layer.provideMerge(CallPlans.layer),
    Layer.provideMerge(Layer.mergeAll(JoinTokens.layer, SpeechParts.layer, WebSocketRoutes.layer)),
    Layer.provideMerge(UnauthenticatedSockets.layer),
    Layer.provideMerge(engines)
  )
  const webhooks = WebhookWorker.layer({ vendor: config.vendor, userAgent })
  // Calls first: their recordings are settled after them.
  const maintenance = Layer.provideMerge(RecordingRecovery.layer, Maintenance.layer)
  const analyst = Layer.provide(Layer.mergeAll(Analyst.layer, TestRunner.layer), AnalysisModels.layer)
  const background = Layer.mergeAll(
    maintenance,
    Retention.layer(config.keptDays),
    SecretRotation.layer,
    Embedding.layer,
    webhooks,
    analyst
  )
  return HttpApp.layer.pipe(
    Layer.provideMerge(Layer.mergeAll(Signalling.layer, PublicAccess.layer, KeyCheck.layer, background)),
    Layer.provideMerge(calls),
    Layer.provideMerge(storage),
    Layer.provideMerge(Layer.mergeAll(settings, NodeServices.layer))
  )
}
