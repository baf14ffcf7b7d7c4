// The main API as one value: the server implements it, clients are derived from it, /openapi.json describes it.
// Fields a schema does not know are errors, and all faults of a body are told at once.
import { HttpApi, HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Health } from "../Health.ts"
import { AgentTestsApi } from "./AgentTests.ts"
import { AgentsApi } from "./Agents.ts"
import { AuditLogApi } from "./AuditLog.ts"
import { KeysApi } from "./Keys.ts"
import { EndUsersApi } from "./EndUsers.ts"
import { KnowledgeSourcesApi } from "./KnowledgeSources.ts"
import { McpServersApi } from "./McpServers.ts"
import { ModelsApi } from "./Models.ts"
import { PhoneCallsApi } from "./PhoneCalls.ts"
import { PhoneNumbersApi } from "./PhoneNumbers.ts"
import { RecordingsApi } from "./Recordings.ts"
import { SessionStartApi, SessionsApi } from "./Sessions.ts"
import { SpeechApi } from "./Speech.ts"
import { ToolsApi } from "./Tools.ts"
import { WalletApi } from "./Wallet.ts"
import { WebhooksApi } from "./Webhooks.ts"

/** Endpoints without a key. */
class SystemApi extends HttpApiGroup.make("system", { topLevel: true }).add(
  HttpApiEndpoint.get("health", "/health", { success: Health })
) {}

/** The whole main API. */
export class MainApi extends HttpApi.make("parley")
  .add(AgentsApi)
  .add(AgentTestsApi)
  .add(SessionStartApi)
  .add(SessionsApi)
  .add(RecordingsApi)
  .add(EndUsersApi)
  .add(ToolsApi)
  .add(McpServersApi)
  .add(KnowledgeSourcesApi)
  .add(PhoneNumbersApi)
  .add(PhoneCallsApi)
  .add(SpeechApi)
  .add(ModelsApi)
  .add(WalletApi)
  .add(WebhooksApi)
  .add(KeysApi)
  .add(AuditLogApi)
  .add(SystemApi)
  .annotate(HttpApi.PayloadParseOptions, { onExcessProperty: "error", errors: "all" })
  .annotate(HttpApi.QueryParseOptions, { errors: "all" })
  // What is answered was checked when it was stored: its shape is enough.
  .annotate(HttpApi.SuccessParseOptions, { disableChecks: true })
  .annotateMerge(OpenApi.annotations({ title: "Parley", version: "1" })) {}
