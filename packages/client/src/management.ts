// What an agent has besides its voice: tools, knowledge, tests, webhooks, and what it costs.
import type {
  AgentTest,
  AgentTestCreate,
  AgentTestPage,
  AgentTestPatch,
  TestBatch,
  TestBatchPage,
  TestRun,
  TestRunPage,
  TestsRun
} from "@parley/contract/AgentTest"
import type {
  KnowledgeSource,
  KnowledgeSourceAgents,
  KnowledgeSourceDetail,
  KnowledgeSourcePage
} from "@parley/contract/KnowledgeSource"
import type {
  McpServer,
  McpServerCreate,
  McpServerPage,
  McpServerPatch,
  McpServerTools
} from "@parley/contract/McpServer"
import type { Tool, ToolAgents, ToolCreate, ToolPage, ToolPatch, ToolTest, ToolTestResult } from "@parley/contract/Tool"
import type { PriceList, UsageDays, UsagePage } from "@parley/contract/Usage"
import type { ApiCredit } from "@parley/contract/Wallet"
import type { WebhookDelivery } from "@parley/contract/WebhookDelivery"
import { path, type Query, search } from "./path.ts"

type Request = <A>(method: string, path: string, body?: unknown) => Promise<A>

/** Only what is given changes; a new file is a new revision. */
export interface KnowledgeChange {
  readonly file?: File
  readonly name?: string
  readonly description?: string
}

/** The management requests of a client. */
export const managementOf = (request: Request) => ({
  tools: {
    list: (query: Query = {}): Promise<typeof ToolPage.Type> => request("GET", `/v1/agent/tools${search(query)}`),
    create: (body: typeof ToolCreate.Encoded): Promise<Tool> => request("POST", "/v1/agent/tools", body),
    get: (id: string): Promise<Tool> => request("GET", path`/v1/agent/tools/${id}`),
    update: (id: string, patch: typeof ToolPatch.Encoded): Promise<Tool> =>
      request("PATCH", path`/v1/agent/tools/${id}`, patch),
    remove: (id: string): Promise<void> => request("DELETE", path`/v1/agent/tools/${id}`),
    agents: (id: string): Promise<ToolAgents> => request("GET", path`/v1/agent/tools/${id}/agents`),
    /** Sends a real request. */
    test: (id: string, body: typeof ToolTest.Encoded = {}): Promise<ToolTestResult> =>
      request("POST", path`/v1/agent/tools/${id}/test`, body)
  },
  mcpServers: {
    list: (query: Query = {}): Promise<typeof McpServerPage.Type> =>
      request("GET", `/v1/agent/mcp-servers${search(query)}`),
    create: (body: typeof McpServerCreate.Encoded): Promise<McpServer> =>
      request("POST", "/v1/agent/mcp-servers", body),
    get: (id: string): Promise<McpServer> => request("GET", path`/v1/agent/mcp-servers/${id}`),
    update: (id: string, patch: typeof McpServerPatch.Encoded): Promise<McpServer> =>
      request("PATCH", path`/v1/agent/mcp-servers/${id}`, patch),
    remove: (id: string): Promise<void> => request("DELETE", path`/v1/agent/mcp-servers/${id}`),
    /** Asks the server now. */
    tools: (id: string): Promise<typeof McpServerTools.Type> => request("GET", path`/v1/agent/mcp-servers/${id}/tools`)
  },
  tests: {
    list: (query: Query = {}): Promise<typeof AgentTestPage.Type> => request("GET", `/v1/agent/tests${search(query)}`),
    create: (body: typeof AgentTestCreate.Encoded): Promise<AgentTest> => request("POST", "/v1/agent/tests", body),
    get: (id: string): Promise<AgentTest> => request("GET", path`/v1/agent/tests/${id}`),
    update: (id: string, patch: typeof AgentTestPatch.Encoded): Promise<AgentTest> =>
      request("PATCH", path`/v1/agent/tests/${id}`, patch),
    remove: (id: string): Promise<void> => request("DELETE", path`/v1/agent/tests/${id}`),
    attach: (id: string, agentId: string): Promise<void> =>
      request("PUT", path`/v1/agent/agents/${agentId}/tests/${id}`),
    detach: (id: string, agentId: string): Promise<void> =>
      request("DELETE", path`/v1/agent/agents/${agentId}/tests/${id}`),
    /** Of the agent's draft; the batch is there before its runs are over. */
    run: (agentId: string, body: typeof TestsRun.Encoded = {}): Promise<TestBatch> =>
      request("POST", path`/v1/agent/agents/${agentId}/tests/run`, body),
    batches: (agentId: string, query: Query = {}): Promise<typeof TestBatchPage.Type> =>
      request("GET", path`/v1/agent/agents/${agentId}/test-batches` + search(query)),
    batch: (agentId: string, batchId: string): Promise<TestBatch> =>
      request("GET", path`/v1/agent/agents/${agentId}/test-batches/${batchId}`),
    listRuns: (query: Query = {}): Promise<typeof TestRunPage.Type> =>
      request("GET", `/v1/agent/test-runs${search(query)}`),
    getRun: (runId: string): Promise<TestRun> => request("GET", path`/v1/agent/test-runs/${runId}`)
  },
  knowledge: {
    list: (query: Query = {}): Promise<typeof KnowledgeSourcePage.Type> =>
      request("GET", `/v1/agent/knowledge-sources${search(query)}`),
    create: (change: KnowledgeChange & { readonly file: File }): Promise<KnowledgeSource> =>
      request("POST", "/v1/agent/knowledge-sources", formOf(change)),
    get: (id: string): Promise<KnowledgeSourceDetail> => request("GET", path`/v1/agent/knowledge-sources/${id}`),
    update: (id: string, change: KnowledgeChange): Promise<KnowledgeSource> =>
      request("PATCH", path`/v1/agent/knowledge-sources/${id}`, formOf(change)),
    remove: (id: string): Promise<void> => request("DELETE", path`/v1/agent/knowledge-sources/${id}`),
    agents: (id: string): Promise<KnowledgeSourceAgents> =>
      request("GET", path`/v1/agent/knowledge-sources/${id}/agents`)
  },
  webhooks: {
    deliveries: (sessionId: string): Promise<{ readonly webhook_deliveries: ReadonlyArray<WebhookDelivery> }> =>
      request("GET", path`/v1/agent/sessions/${sessionId}/webhook-deliveries`),
    resend: (deliveryId: string): Promise<void> =>
      request("POST", path`/v1/agent/webhook-deliveries/${deliveryId}/resend`)
  },
  wallet: {
    credit: (): Promise<ApiCredit> => request("GET", "/wallet/self/api-credit"),
    usage: (query: Query = {}): Promise<typeof UsagePage.Type> => request("GET", `/wallet/self/usage${search(query)}`),
    byDay: (days: number): Promise<UsageDays> => request("GET", `/wallet/self/usage-by-day${search({ days })}`),
    prices: (): Promise<typeof PriceList.Type> => request("GET", "/wallet/self/prices")
  }
})

const formOf = ({ description, file, name }: KnowledgeChange): FormData => {
  const form = new FormData()
  if (file !== undefined) form.append("source", file, file.name)
  if (name !== undefined) form.append("name", name)
  if (description !== undefined) form.append("description", description)
  return form
}
