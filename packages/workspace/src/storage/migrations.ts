// The migrations in their order. One that was released never changes; a new one keeps what is there.
import { firstCall } from "./migrations/0001_first_call.ts"
import { speech } from "./migrations/0002_speech.ts"
import { tools } from "./migrations/0003_tools.ts"
import { webhooks } from "./migrations/0004_webhooks.ts"
import { analysis } from "./migrations/0005_analysis.ts"
import { knowledge } from "./migrations/0006_knowledge.ts"
import { recordings } from "./migrations/0007_recordings.ts"
import { mcpServers } from "./migrations/0008_mcp_servers.ts"
import { agentTests } from "./migrations/0009_agent_tests.ts"
import { embeddings } from "./migrations/0010_embeddings.ts"
import { sessionLists } from "./migrations/0011_session_lists.ts"
import { telephone } from "./migrations/0012_telephone.ts"
import { jobQueues } from "./migrations/0013_job_queues.ts"
import { publicFields } from "./migrations/0014_public_fields.ts"
import { apiKeys } from "./migrations/0015_api_keys.ts"
import { metering } from "./migrations/0016_metering.ts"
import { secondLegs } from "./migrations/0017_second_legs.ts"
import { auditLog } from "./migrations/0018_audit_log.ts"

/** By name; the number decides the order. */
export const migrations = {
  "0001_first_call": firstCall,
  "0002_speech": speech,
  "0003_tools": tools,
  "0004_webhooks": webhooks,
  "0005_analysis": analysis,
  "0006_knowledge": knowledge,
  "0007_recordings": recordings,
  "0008_mcp_servers": mcpServers,
  "0009_agent_tests": agentTests,
  "0010_embeddings": embeddings,
  "0011_session_lists": sessionLists,
  "0012_telephone": telephone,
  "0013_job_queues": jobQueues,
  "0014_public_fields": publicFields,
  "0015_api_keys": apiKeys,
  "0016_metering": metering,
  "0017_second_legs": secondLegs,
  "0018_audit_log": auditLog
}
