// The four management routes as one would write them on fastify and pg: the same statements on the same tables, the
// same check of the key, bodies validated and answers serialised by JSON schema. Tells its parent where it listens, and
// what CPU it has used when it is asked.
// oxlint-disable oxc/no-async-endpoint-handlers -- fastify waits for its handlers
import { hash as hashOnce, createHmac, randomBytes, randomUUID } from "node:crypto"
import fastify from "fastify"
import { Pool } from "pg"

const { databaseUrl, samples } = JSON.parse(process.argv[2])
const pool = new Pool({ connectionString: databaseUrl, max: 10 })
const app = fastify({ bodyLimit: 4 * 1024 * 1024 })
const secret = randomBytes(32)

/** A schema that says what a sample is: the quickest serialiser there is for it. */
const schemaOf = (value) => {
  if (value === null) return { type: ["string", "null"] }
  if (Array.isArray(value)) {
    return { type: "array", items: value.length === 0 ? { type: "string" } : schemaOf(value[0]) }
  }
  if (typeof value === "object") {
    const properties = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, schemaOf(inner)]))
    return Object.keys(properties).length === 0
      ? { type: "object", additionalProperties: true }
      : { type: "object", properties }
  }
  return { type: typeof value }
}
const answers = (status, sample) => ({ response: { [status]: schemaOf(sample) } })

class HttpError extends Error {
  constructor(statusCode, message) {
    super(message)
    this.statusCode = statusCode
  }
}

app.setErrorHandler((error, _request, reply) => {
  const status = error.statusCode ?? 500
  return reply.code(status).send({ status, message: error.message, reason: null })
})

const hash = (text) => hashOnce("sha256", text)
const newId = (prefix) => `${prefix}_${randomBytes(10).toString("hex")}`

app.addHook("onRequest", async (request) => {
  const key = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? ""
  const { rows } = await pool.query(
    `SELECT id, workspace_id, (last_used_at IS NULL OR last_used_at < now() - interval '1 minute') AS stale
     FROM api_keys WHERE hash = $1 AND revoked_at IS NULL`,
    [hash(key)]
  )
  if (rows[0] === undefined) throw new HttpError(401, "Missing or invalid API key")
  if (rows[0].stale) await pool.query("UPDATE api_keys SET last_used_at = now() WHERE id = $1", [rows[0].id])
  request.workspace = rows[0].workspace_id
})

const shownColumns =
  "seq, id, workspace_id, name, description, status, public_enabled, allowed_origins, overrides_allowed, public_fields_allowed, " +
  "live_version, created_at, updated_at"

const findAgent = async (workspace, id, columns = "*") => {
  const { rows } = await pool.query(
    `SELECT ${columns} FROM agents WHERE id = $1 AND workspace_id = $2 AND deleted_at IS NULL`,
    [id, workspace]
  )
  if (rows[0] === undefined) throw new HttpError(404, "Agent not found")
  return rows[0]
}

const showAgent = (row) => ({
  agent_id: row.id,
  workspace_id: row.workspace_id,
  name: row.name,
  description: row.description,
  status: row.status,
  publication_state: row.live_version === null ? "draft" : "live",
  public_enabled: row.public_enabled,
  allowed_origins: row.allowed_origins,
  overrides_allowed: row.overrides_allowed,
  public_fields_allowed: row.public_fields_allowed,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString()
})

app.get("/v1/agent/agents/:id", { schema: answers(200, samples.agent) }, async (request) =>
  showAgent(await findAgent(request.workspace, request.params.id, shownColumns))
)

app.get(
  "/v1/agent/agents",
  {
    schema: {
      querystring: {
        type: "object",
        properties: {
          cursor: { type: "string" },
          page_size: { type: "integer", minimum: 1, maximum: 100, default: 30 }
        }
      },
      ...answers(200, samples.agents)
    }
  },
  async (request) => {
    const { cursor, page_size: size } = request.query
    const after = cursor === undefined ? null : Buffer.from(cursor, "base64url").toString().slice(6)
    const { rows } = await pool.query(
      `SELECT ${shownColumns} FROM agents WHERE workspace_id = $1 AND deleted_at IS NULL AND status = 'active'
       ${after === null ? "" : "AND seq < $3::bigint"} ORDER BY seq DESC LIMIT $2 OFFSET 0`,
      after === null ? [request.workspace, size + 1] : [request.workspace, size + 1, after]
    )
    const shown = rows.slice(0, size)
    const more = rows.length > size
    return {
      agents: shown.map(showAgent),
      has_more: more,
      next_cursor: more ? Buffer.from(`after ${shown.at(-1).seq}`).toString("base64url") : null,
      total: null
    }
  }
)

const part = (value) => Buffer.from(JSON.stringify(value)).toString("base64url")
const text = (maxLength) => ({ type: "string", maxLength })
app.post(
  "/v1/agent/sessions",
  {
    schema: {
      body: {
        type: "object",
        required: ["agent_id"],
        additionalProperties: false,
        properties: {
          agent_id: text(128),
          name: text(128),
          timezone: text(64),
          end_user_id: text(256),
          metadata: { type: "object", additionalProperties: true },
          dynamic_variables: { type: "object", additionalProperties: true },
          world_context: { type: "boolean" },
          tool_events: { type: "boolean" },
          record_audio: { type: "boolean" }
        }
      },
      ...answers(201, samples.ticket)
    }
  },
  async (request, reply) => {
    const { body, workspace } = request
    const agent = await findAgent(workspace, body.agent_id)
    if (agent.live_version === null) throw new HttpError(409, "The agent has no published version")
    const versions = await pool.query("SELECT * FROM agent_versions WHERE agent_id = $1 AND version_number = $2", [
      agent.id,
      agent.live_version
    ])
    const version = versions.rows[0]
    const { conversation } = version.config
    const sessionInput = {
      overrides: {},
      dynamicVariables: body.dynamic_variables ?? {},
      worldContext: body.world_context ?? true,
      toolEvents: body.tool_events ?? true,
      recordAudio: body.record_audio ?? conversation.record_audio
    }
    const { rows } = await pool.query(
      `INSERT INTO sessions (id, workspace_id, agent_id, agent_name, preview, version_number, config, config_hash,
         source, name, timezone, end_user_id, metadata, request, max_duration_seconds, expires_at)
       VALUES ($1, $2, $3, $4, false, $5, NULL, $6, 'api_key', $7, $8, $9, $10::json, $11::jsonb, $12,
         now() + make_interval(secs => 600)) RETURNING *`,
      [
        newId("session"),
        workspace,
        agent.id,
        agent.name,
        version.version_number,
        version.config_hash,
        body.name ?? "",
        body.timezone ?? conversation.timezone ?? "UTC",
        body.end_user_id ?? "",
        JSON.stringify(body.metadata ?? {}),
        JSON.stringify(sessionInput),
        conversation.max_duration_seconds
      ]
    )
    const row = rows[0]
    const url = `ws://${request.headers.host}`
    const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part({
      iss: "parley",
      sub: row.id.replace("session", "user"),
      nbf: Math.floor(Date.now() / 1000) - 10,
      exp: Math.floor(row.expires_at.getTime() / 1000),
      jti: randomUUID(),
      video: { room: row.id, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true }
    })}`
    reply.code(201)
    return {
      session_id: row.id,
      expires_at: row.expires_at.toISOString(),
      max_duration_seconds: row.max_duration_seconds,
      transport: "livekit",
      rtc_url: url,
      livekit_url: url,
      token: `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`
    }
  }
)

const canonical = (value) =>
  Array.isArray(value)
    ? `[${value.map(canonical).join()}]`
    : typeof value === "object" && value !== null
      ? `{${Object.keys(value)
          .sort()
          .map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`)
          .join()}}`
      : JSON.stringify(value)

const withoutSecrets = ({ llm, webhooks, ...config }) => ({
  ...config,
  llm: llm.custom === null ? llm : { ...llm, custom: { ...llm.custom, api_key: undefined } },
  webhooks: {
    conversation_init: webhooks.conversation_init,
    post_call: webhooks.post_call.map(({ secret: sealed, url }) => ({ url, has_secret: sealed !== null }))
  }
})

app.patch(
  "/v1/agent/agents/:id/config",
  {
    schema: {
      body: {
        type: "object",
        additionalProperties: false,
        properties: {
          prompt: {
            type: "object",
            additionalProperties: false,
            properties: {
              system_prompt: { ...text(500_000), default: "" },
              first_message_mode: { enum: ["off", "fixed", "prompt"], default: "prompt" },
              first_message: text(10_000),
              first_message_prompt: text(10_000)
            }
          }
        }
      },
      ...answers(200, samples.config)
    }
  },
  async (request) => {
    for (let left = 5; left > 0; left--) {
      const row = await findAgent(request.workspace, request.params.id)
      const next = { ...row.draft, prompt: { ...row.draft.prompt, ...request.body.prompt } }
      const draftHash = `sha256:${hash(canonical(next))}`
      const { rows } = await pool.query(
        `UPDATE agents SET draft = $1::jsonb, draft_hash = $2, draft_updated_at = now(), updated_at = now()
         WHERE id = $3 AND draft_hash = $4 AND deleted_at IS NULL RETURNING draft_updated_at`,
        [JSON.stringify(next), draftHash, row.id, row.draft_hash]
      )
      // Else another change came between.
      if (rows[0] !== undefined) {
        return {
          ...withoutSecrets(next),
          agent_id: row.id,
          config_hash: draftHash,
          updated_at: rows[0].draft_updated_at.toISOString()
        }
      }
    }
    throw new HttpError(503, "Too many changes at once")
  }
)

process.on("message", () => process.send({ cpu: process.cpuUsage() }))
process.on("disconnect", () => process.exit(0))
await app.listen({ port: 0, host: "127.0.0.1" })
process.send({ url: `http://127.0.0.1:${app.server.address().port}` })
