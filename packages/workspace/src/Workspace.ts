// Every service of this room on one database.
import { Layer, type Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { AgentTests } from "./agentTests/AgentTests.ts"
import { TestRuns } from "./agentTests/TestRuns.ts"
import { Agents } from "./agents/Agents.ts"
import { Analyses } from "./analysis/Analyses.ts"
import { ApiKeys } from "./identity/ApiKeys.ts"
import { AuditLog } from "./identity/AuditLog.ts"
import { KeyManagement } from "./identity/KeyManagement.ts"
import { ProcessHeartbeats } from "./jobs/ProcessHeartbeats.ts"
import { Blobs } from "./storage/Blobs.ts"
import { DesignSignatures } from "./voices/DesignSignatures.ts"
import { KnowledgeSearch } from "./knowledge/KnowledgeSearch.ts"
import { KnowledgeSources } from "./knowledge/KnowledgeSources.ts"
import { Billing } from "./billing/Billing.ts"
import { McpServers } from "./mcp/McpServers.ts"
import { SafeHttp } from "./outbound/SafeHttp.ts"
import type { Platform } from "./Platform.ts"
import type { Inventory } from "./phone/Inventory.ts"
import * as LocalInventory from "./phone/LocalInventory.ts"
import { PhoneCalls } from "./phone/PhoneCalls.ts"
import { PhoneLines } from "./phone/PhoneLines.ts"
import { PhoneNumbers } from "./phone/PhoneNumbers.ts"
import { SipTraces } from "./phone/SipTraces.ts"
import { Prices } from "./billing/Prices.ts"
import { RecordingLinks } from "./recordings/RecordingLinks.ts"
import { Recordings } from "./recordings/Recordings.ts"
import { Secrets } from "./storage/Secrets.ts"
import { SessionLife } from "./sessions/SessionLife.ts"
import { Sessions } from "./sessions/Sessions.ts"
import type { Database, DataFolder } from "./storage/Database.ts"
import type { StartFault } from "./storage/StartFault.ts"
import { Tools } from "./tools/Tools.ts"
import { Usage } from "./billing/Usage.ts"
import { Versions } from "./agents/Versions.ts"
import { VoiceModels } from "./voices/VoiceModels.ts"
import { Deliveries } from "./webhooks/Deliveries.ts"
import { Outbox } from "./webhooks/Outbox.ts"
import { Workspaces } from "./identity/Workspaces.ts"

/**
 * @param secretKey that seals secrets at rest; left out: a generated file of the data folder
 * @param formerKeys that sealed before
 */
export const layer = (
  secretKey: Redacted.Redacted<string> | undefined,
  formerKeys: ReadonlyArray<Redacted.Redacted<string>> = []
): Layer.Layer<
  | Agents
  | AgentTests
  | TestRuns
  | Analyses
  | ApiKeys
  | AuditLog
  | KeyManagement
  | Blobs
  | DesignSignatures
  | KnowledgeSearch
  | KnowledgeSources
  | Billing
  | McpServers
  | Inventory
  | PhoneCalls
  | PhoneLines
  | PhoneNumbers
  | SipTraces
  | Prices
  | RecordingLinks
  | Recordings
  | SafeHttp
  | Secrets
  | SessionLife
  | Sessions
  | Tools
  | Deliveries
  | Outbox
  | Usage
  | Versions
  | VoiceModels
  | Workspaces,
  StartFault,
  Database | DataFolder | Platform | SqlClient.SqlClient
> =>
  Layer.mergeAll(
    Agents.layer,
    Versions.layer,
    Layer.mergeAll(SessionLife.layer, PhoneCalls.layer).pipe(
      Layer.provideMerge(SipTraces.layer),
      Layer.provideMerge(Sessions.layer),
      Layer.provide(ProcessHeartbeats.layer)
    ),
    PhoneNumbers.layer,
    PhoneLines.layer,
    ApiKeys.layer,
    KeyManagement.layer,
    AuditLog.layer,
    Usage.layer,
    Tools.layer,
    McpServers.layer,
    AgentTests.layer,
    TestRuns.layer,
    KnowledgeSearch.layer,
    KnowledgeSources.layer,
    DesignSignatures.layer,
    RecordingLinks.layer,
    Recordings.layer
  ).pipe(
    Layer.provideMerge(LocalInventory.layer),
    Layer.provideMerge(Layer.mergeAll(VoiceModels.layer, Deliveries.layer, Analyses.layer, Prices.layer)),
    Layer.provideMerge(Billing.layer),
    Layer.provideMerge(Outbox.layer),
    Layer.provideMerge(SafeHttp.layer),
    Layer.provideMerge(Blobs.layer),
    Layer.provideMerge(Layer.mergeAll(Secrets.layer(secretKey, formerKeys), Workspaces.layer))
  )
