// What an agent has besides its voice: tools, knowledge, tests, webhooks, and what it costs.
import type { BodyOf, QueryOf, Send } from "./Request.ts"

/** Only what is given changes; a new file is a new revision. */
export interface KnowledgeChange {
  readonly file?: File
  readonly name?: string
  readonly description?: string
}

/** The parts of a request that concern one record: its id. */
const tool = (tool_id: string) => ({ params: { tool_id } })
const server = (mcp_server_id: string) => ({ params: { mcp_server_id } })
const source = (source_id: string) => ({ params: { source_id } })
const test = (test_id: string) => ({ params: { test_id } })
const own = { params: { user_id: "self" } }
const key = (key_id: string) => ({ params: { key_id } })

const toolsOf = (send: Send) => ({
  list: (query: QueryOf<"GET /v1/agent/tools"> = {}) => send("GET /v1/agent/tools", { query }),
  create: (body: BodyOf<"POST /v1/agent/tools">) => send("POST /v1/agent/tools", { body }),
  get: (id: string) => send("GET /v1/agent/tools/:tool_id", tool(id)),
  update: (id: string, body: BodyOf<"PATCH /v1/agent/tools/:tool_id">) =>
    send("PATCH /v1/agent/tools/:tool_id", { ...tool(id), body }),
  remove: (id: string) => send("DELETE /v1/agent/tools/:tool_id", tool(id)),
  agents: (id: string) => send("GET /v1/agent/tools/:tool_id/agents", tool(id)),
  /** Sends a real request. */
  test: (id: string, body: BodyOf<"POST /v1/agent/tools/:tool_id/test"> = {}) =>
    send("POST /v1/agent/tools/:tool_id/test", { ...tool(id), body })
})

const mcpServersOf = (send: Send) => ({
  list: (query: QueryOf<"GET /v1/agent/mcp-servers"> = {}) => send("GET /v1/agent/mcp-servers", { query }),
  create: (body: BodyOf<"POST /v1/agent/mcp-servers">) => send("POST /v1/agent/mcp-servers", { body }),
  get: (id: string) => send("GET /v1/agent/mcp-servers/:mcp_server_id", server(id)),
  update: (id: string, body: BodyOf<"PATCH /v1/agent/mcp-servers/:mcp_server_id">) =>
    send("PATCH /v1/agent/mcp-servers/:mcp_server_id", { ...server(id), body }),
  remove: (id: string) => send("DELETE /v1/agent/mcp-servers/:mcp_server_id", server(id)),
  /** Asks the server now. */
  tools: (id: string) => send("GET /v1/agent/mcp-servers/:mcp_server_id/tools", server(id))
})

const attached = "/v1/agent/agents/:agent_id/tests/:test_id"
const run = "POST /v1/agent/agents/:agent_id/tests/run"
const batches = "GET /v1/agent/agents/:agent_id/test-batches"

const testsOf = (send: Send) => ({
  list: (query: QueryOf<"GET /v1/agent/tests"> = {}) => send("GET /v1/agent/tests", { query }),
  create: (body: BodyOf<"POST /v1/agent/tests">) => send("POST /v1/agent/tests", { body }),
  get: (id: string) => send("GET /v1/agent/tests/:test_id", test(id)),
  update: (id: string, body: BodyOf<"PATCH /v1/agent/tests/:test_id">) =>
    send("PATCH /v1/agent/tests/:test_id", { ...test(id), body }),
  remove: (id: string) => send("DELETE /v1/agent/tests/:test_id", test(id)),
  attach: (test_id: string, agent_id: string) => send(`PUT ${attached}`, { params: { agent_id, test_id } }),
  detach: (test_id: string, agent_id: string) => send(`DELETE ${attached}`, { params: { agent_id, test_id } }),
  /** Of the agent's draft; the batch is there before its runs are over. */
  run: (agent_id: string, body: BodyOf<typeof run> = {}) => send(run, { params: { agent_id }, body }),
  batches: (agent_id: string, query: QueryOf<typeof batches> = {}) => send(batches, { params: { agent_id }, query }),
  batch: (agent_id: string, batch_id: string) => send(`${batches}/:batch_id`, { params: { agent_id, batch_id } }),
  listRuns: (query: QueryOf<"GET /v1/agent/test-runs"> = {}) => send("GET /v1/agent/test-runs", { query }),
  getRun: (run_id: string) => send("GET /v1/agent/test-runs/:run_id", { params: { run_id } })
})

const knowledgeOf = (send: Send) => ({
  list: (query: QueryOf<"GET /v1/agent/knowledge-sources"> = {}) => send("GET /v1/agent/knowledge-sources", { query }),
  create: (change: KnowledgeChange & { readonly file: File }) =>
    send("POST /v1/agent/knowledge-sources", { body: formOf(change) }),
  get: (id: string) => send("GET /v1/agent/knowledge-sources/:source_id", source(id)),
  update: (id: string, change: KnowledgeChange) =>
    send("PATCH /v1/agent/knowledge-sources/:source_id", { ...source(id), body: formOf(change) }),
  remove: (id: string) => send("DELETE /v1/agent/knowledge-sources/:source_id", source(id)),
  agents: (id: string) => send("GET /v1/agent/knowledge-sources/:source_id/agents", source(id))
})

const keysOf = (send: Send) => ({
  list: (query: QueryOf<"GET /v1/keys"> = {}) => send("GET /v1/keys", { query }),
  /** The secret is in the answer, and shown only there. */
  create: (body: BodyOf<"POST /v1/keys">) => send("POST /v1/keys", { body }),
  update: (id: string, body: BodyOf<"PATCH /v1/keys/:key_id">) => send("PATCH /v1/keys/:key_id", { ...key(id), body }),
  /** A new key like this one, which goes on for `overlap_seconds`; at once over when left out. */
  rotate: (id: string, body: BodyOf<"POST /v1/keys/:key_id/rotate"> = {}) =>
    send("POST /v1/keys/:key_id/rotate", { ...key(id), body }),
  revoke: (id: string) => send("DELETE /v1/keys/:key_id", key(id))
})

/** The management requests of a client. */
export const managementOf = (send: Send) => ({
  tools: toolsOf(send),
  mcpServers: mcpServersOf(send),
  tests: testsOf(send),
  knowledge: knowledgeOf(send),
  keys: keysOf(send),
  audit: {
    list: (query: QueryOf<"GET /v1/audit-log"> = {}) => send("GET /v1/audit-log", { query })
  },
  webhooks: {
    deliveries: (session_id: string) =>
      send("GET /v1/agent/sessions/:session_id/webhook-deliveries", { params: { session_id } }),
    resend: (delivery_id: string) =>
      send("POST /v1/agent/webhook-deliveries/:delivery_id/resend", { params: { delivery_id } })
  },
  wallet: {
    credit: () => send("GET /wallet/:user_id/api-credit", own),
    usage: (query: QueryOf<"GET /wallet/:user_id/usage"> = {}) => send("GET /wallet/:user_id/usage", { ...own, query }),
    byDay: (days: number) => send("GET /wallet/:user_id/usage-by-day", { ...own, query: { days } }),
    prices: () => send("GET /wallet/:user_id/prices", own)
  }
})

const formOf = ({ description, file, name }: KnowledgeChange): FormData => {
  const form = new FormData()
  if (file !== undefined) form.append("source", file, file.name)
  if (name !== undefined) form.append("name", name)
  if (description !== undefined) form.append("description", description)
  return form
}
