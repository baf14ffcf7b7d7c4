// What an agent has besides its voice: tools, knowledge, webhooks, and what it costs.
import type {
  KnowledgeSource,
  KnowledgeSourceAgents,
  KnowledgeSourceDetail,
  KnowledgeSourcePage
} from "@parley/contract/KnowledgeSource"
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

export const officeOf = (request: Request) => ({
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
