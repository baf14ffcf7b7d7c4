// Recordings over HTTP where a call is not needed: addresses that are over, tracks that are gone or failed.
import { assert, layer } from "@effect/vitest"
import type { SessionRecording } from "@parley/contract/Recording"
import { Agents } from "@parley/workspace/agents/Agents"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { Blobs } from "@parley/workspace/storage/Blobs"
import { newId } from "@parley/workspace/storage/Id"
import { signLink } from "@parley/workspace/recordings/linkToken"
import { Recordings } from "@parley/workspace/recordings/Recordings"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Versions } from "@parley/workspace/agents/Versions"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Redacted } from "effect"
import { rmSync, writeFileSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { SessionRequests } from "@parley/app/sessions/SessionRequests"
import { HttpListener } from "../../src/http/HttpListener.ts"
import { serviceWith } from "../../src/testing/TestService.ts"

const publicUrl = "https://voice.example.org"
const service = serviceWith({ PARLEY_PUBLIC_URL: publicUrl })

const sound = "0123456789"

/** A session with a complete track of the user and one of the agent that broke off, and who may ask for it. */
const recorded = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const name = newId("workspace")
  const ws = yield* (yield* Workspaces).ensure(name)
  const key = Redacted.value((yield* (yield* ApiKeys).create(name)).key)
  const { agent_id } = yield* (yield* Agents).create(ws, { name: "Ada" })
  yield* (yield* Versions).publish(ws, agent_id, {})
  const ticket = yield* (yield* SessionRequests).open(ws, { agent_id, record_audio: true }, base)
  const blobs = yield* Blobs
  const recordings = yield* Recordings
  const track = (role: "user" | "agent") => ({ id: newId("track"), role, blob: blobs.fresh("recordings") })
  const [user, agent] = [track("user"), track("agent")]
  for (const { blob } of [user, agent]) writeFileSync(blobs.path(blob), sound)
  yield* recordings.begin(ticket.session_id, [user, agent], Date.now())
  yield* recordings.settle(user.id, { durationMs: 1_000, errorCode: null })
  yield* recordings.settle(agent.id, { durationMs: 400, errorCode: "storage_failed" })
  const ask = (path: string) =>
    Effect.promise(async () => {
      const answer = await fetch(base + path, { headers: { authorization: `Bearer ${key}` } })
      return (await answer.json()) as SessionRecording
    })
  const get = (file: string) =>
    Effect.promise(async () => {
      const answer = await fetch(`${base}/v1/agent/recordings/${file}`)
      return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() }
    })
  return { ask, get, session: ticket.session_id, user, path: blobs.path(user.blob) }
})

layer(service, { excludeTestServices: true, timeout: "60 seconds" })("RecordingHandlers", (it) => {
  it.effect("gives addresses by the public name, also for what is kept of a failed track", () =>
    Effect.gen(function* () {
      const { ask, get, session } = yield* recorded
      const recording = yield* ask(`/v1/agent/sessions/${session}/recording`)
      const message = "The recording could not be written to the disk"
      assert.deepInclude(recording, {
        session_id: session,
        status: "failed",
        error: message,
        error_code: "storage_failed",
        error_message: message
      })
      assert.deepStrictEqual(
        recording.tracks.map(({ duration_ms, error, error_code, role, status }) => [
          role,
          status,
          duration_ms,
          error,
          error_code
        ]),
        [
          ["agent", "failed", 400, message, "storage_failed"],
          ["user", "complete", 1_000, null, null]
        ]
      )
      for (const { expires_at, url } of recording.tracks) {
        const prefix = `${publicUrl}/v1/agent/recordings/`
        assert.isTrue(url?.startsWith(prefix))
        const leftMs = Date.parse(expires_at ?? "") - Date.now()
        assert.isTrue(leftMs > 0 && leftMs <= 15 * 60 * 1000)
        const answer = yield* get(url?.slice(prefix.length) ?? "")
        assert.deepStrictEqual(answer, { status: 200, type: "audio/ogg", text: sound })
      }
    })
  )

  it.effect("refuses an address that is over with 403, and one of what is no more with 404", () =>
    Effect.gen(function* () {
      const { get, path, user } = yield* recorded
      const key = Redacted.value((yield* Secrets).derive("recording-links"))
      const nowSeconds = Math.floor(Date.now() / 1000)
      assert.strictEqual((yield* get(signLink(key, user.id, nowSeconds + 60))).status, 200)
      const over = yield* get(signLink(key, user.id, nowSeconds - 1))
      assert.strictEqual(over.status, 403)
      assert.deepInclude(JSON.parse(over.text), { status: 403, reason: null })
      assert.strictEqual((yield* get(signLink(key, newId("track"), nowSeconds + 60))).status, 404)
      assert.strictEqual((yield* get(`${"x".repeat(600)}.ogg`)).status, 404)
      assert.strictEqual((yield* get("%00.ogg")).status, 404)
      rmSync(path)
      const gone = yield* get(signLink(key, user.id, nowSeconds + 60))
      assert.strictEqual(gone.status, 404)
      assert.deepInclude(JSON.parse(gone.text), { status: 404, message: "Recording not found" })
    })
  )
})
