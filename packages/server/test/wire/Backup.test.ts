// A backup as OPERATING.md describes it: the data folder is packed while the service is stopped, and unpacked elsewhere.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, expect, it } from "vitest"
import { type RunningService, startService } from "../../src/testing/RunningService.ts"

const folder = mkdtempSync(join(tmpdir(), "parley-backup-"))
let running: RunningService | undefined
afterAll(async () => {
  await running?.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Tool {
  readonly tool_id: string
}

it("keeps agents, keys, sealed credentials and sessions in another place", { timeout: 90_000 }, async () => {
  execFileSync("chmod", ["711", folder])
  const data = join(folder, "data")
  mkdirSync(data, { mode: 0o711 })
  const first = (running = await startService({ PARLEY_DATA: data }))
  const agent = await first.agent({ prompt: { system_prompt: "You keep appointments." } })
  const { session_id } = await first.api<{ session_id: string }>("POST", "/v1/agent/sessions", { agent_id: agent })
  const { tool_id } = await first.api<Tool>("POST", "/v1/agent/tools", {
    tool_type: "webhook",
    name: "look_up",
    url: "https://tools.example/look-up",
    headers: [{ kind: "authorization_bearer", value: "Bearer sealed" }]
  })
  await first.stop()
  execFileSync("tar", ["--create", "--gzip", "--file", join(folder, "backup.tar.gz"), "--directory", folder, "data"])
  rmSync(data, { recursive: true })

  const place = join(folder, "elsewhere")
  mkdirSync(place, { mode: 0o711 })
  execFileSync("tar", ["--extract", "--same-owner", "--file", join(folder, "backup.tar.gz"), "--directory", place])
  const second = (running = await startService({ PARLEY_DATA: join(place, "data") }))
  expect(second.key).toBe(first.key)
  expect(await second.api("GET", `/v1/agent/agents/${agent}/config`)).toMatchObject({
    prompt: { system_prompt: "You keep appointments." }
  })
  expect(await second.api("GET", `/v1/agent/sessions/${session_id}`)).toMatchObject({ status: "pending" })
  expect(await second.api("GET", `/v1/agent/tools/${tool_id}`)).toMatchObject({ headers: [{ has_secret: true }] })
  // A new session is signed by the key that was kept.
  await second.api("POST", "/v1/agent/sessions", { agent_id: agent })
})
