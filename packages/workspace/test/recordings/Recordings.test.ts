import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, writeFileSync } from "node:fs"
import { Agents } from "../../src/agents/Agents.ts"
import { Blobs } from "../../src/storage/Blobs.ts"
import { newId } from "../../src/storage/Id.ts"
import { Platform } from "../../src/Platform.ts"
import { Recordings } from "../../src/recordings/Recordings.ts"
import { SessionLife } from "../../src/sessions/SessionLife.ts"
import { Sessions } from "../../src/sessions/Sessions.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Versions } from "../../src/agents/Versions.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5_000_000_000n
})
const live = Workspace.layer(undefined).pipe(Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer)))

const startedAtMs = Date.parse("2026-01-01T00:00:00.000Z")

/** A session of an agent of its own, and its tracks with a byte of sound each. */
const recorded = Effect.fnUntraced(function* (
  name: string,
  options: { recordAudio?: boolean; preview?: boolean } = {}
) {
  const ws = yield* (yield* Workspaces).ensure(name)
  const { agent_id } = yield* (yield* Agents).create(ws, { name: "Ada" })
  const versions = yield* Versions
  yield* versions.publish(ws, agent_id, {})
  const { id } = yield* (yield* Sessions).create({
    workspaceId: ws,
    runnable: yield* versions.live(ws, agent_id),
    preview: options.preview ?? false,
    source: "api_key",
    name: "",
    timezone: "UTC",
    endUserId: "",
    metadata: {},
    input: {
      overrides: {},
      dynamicVariables: {},
      worldContext: true,
      toolEvents: true,
      recordAudio: options.recordAudio ?? true
    },
    maxDurationSeconds: 60
  })
  const blobs = yield* Blobs
  const recordings = yield* Recordings
  const track = (role: "user" | "agent") => ({ id: newId("track"), role, blob: blobs.fresh("recordings") })
  const [user, agent] = [track("user"), track("agent")]
  for (const { blob } of [user, agent]) writeFileSync(blobs.path(blob), "x")
  const begun = yield* recordings.begin(id, [user, agent], startedAtMs)
  return { ws, agent_id, id, user, agent, begun, path: (one: { blob: string }) => blobs.path(one.blob) }
})

layer(live, { excludeTestServices: true })("Recordings", (it) => {
  it.effect("shows the tracks of a session, settled once, to its workspace only", () =>
    Effect.gen(function* () {
      const recordings = yield* Recordings
      const { agent, begun, id, path, user, ws } = yield* recorded("shown")
      assert.isTrue(begun)
      const active = yield* recordings.ofSession(ws, id)
      assert.deepStrictEqual(
        active.map(({ role, status, started_at }) => [role, status, started_at.getTime()]),
        [
          ["agent", "active", startedAtMs],
          ["user", "active", startedAtMs]
        ]
      )
      assert.strictEqual((yield* Effect.flip(recordings.sound(user.id))).status, 404)
      yield* recordings.settle(user.id, { durationMs: 1_234, errorCode: null })
      yield* recordings.settle(user.id, { durationMs: 0, errorCode: "recorder_lost" })
      yield* recordings.settle(agent.id, { durationMs: 500, errorCode: "recorder_overloaded" })
      const [agentRow, userRow] = yield* recordings.ofSession(ws, id)
      assert.deepInclude(userRow, { status: "complete", duration_ms: 1_234, error_code: null })
      assert.strictEqual(userRow?.ended_at?.getTime(), startedAtMs + 1_234)
      assert.deepInclude(agentRow, { status: "failed", duration_ms: 500, error_code: "recorder_overloaded" })
      assert.strictEqual(yield* recordings.sound(user.id), path(user))
      assert.strictEqual(yield* recordings.sound(agent.id), path(agent))
      const stranger = yield* (yield* Workspaces).ensure("stranger")
      const foreign = yield* Effect.flip(recordings.ofSession(stranger, id))
      assert.deepStrictEqual(foreign, yield* Effect.flip(recordings.ofSession(ws, "session_unknown")))
    })
  )

  it.effect("keeps nothing of a track without sound", () =>
    Effect.gen(function* () {
      const recordings = yield* Recordings
      const { id, path, user, ws } = yield* recorded("soundless")
      yield* recordings.settle(user.id, { durationMs: 0, errorCode: null })
      const rows = yield* recordings.ofSession(ws, id)
      assert.deepInclude(
        rows.find(({ role }) => role === "user"),
        { status: "failed", error_code: "no_sound" }
      )
      assert.isFalse(existsSync(path(user)))
      assert.strictEqual((yield* Effect.flip(recordings.sound(user.id))).status, 404)
    })
  )

  it.effect("makes no row for a session that is not to be recorded, or is a preview", () =>
    Effect.gen(function* () {
      const recordings = yield* Recordings
      const off = yield* recorded("off", { recordAudio: false })
      const preview = yield* recorded("preview", { preview: true })
      assert.deepStrictEqual([off.begun, preview.begun], [false, false])
      assert.strictEqual((yield* Effect.flip(recordings.ofSession(off.ws, off.id))).status, 404)
      assert.strictEqual((yield* Effect.flip(recordings.ofSession(preview.ws, preview.id))).status, 404)
    })
  )

  it.effect("knows what is left when a session has ended", () =>
    Effect.gen(function* () {
      const recordings = yield* Recordings
      const life = yield* SessionLife
      const { id, user } = yield* recorded("left")
      yield* life.claim(id)
      const mine = Effect.map(recordings.unfinished, (rows) => rows.filter(({ session_id }) => session_id === id))
      assert.lengthOf(yield* mine, 0)
      yield* life.settle(id, "internal_error")
      assert.lengthOf(yield* mine, 2)
      yield* recordings.settle(user.id, { durationMs: 10, errorCode: null })
      assert.deepStrictEqual(
        (yield* mine).map(({ role }) => role),
        ["agent"]
      )
    })
  )

  it.effect("outlives its agent, and goes with its file when its days are over", () =>
    Effect.gen(function* () {
      const recordings = yield* Recordings
      const sql = yield* SqlClient.SqlClient
      const old = yield* recorded("old")
      const young = yield* recorded("young")
      for (const one of [old, young]) {
        yield* recordings.settle(one.user.id, { durationMs: 1_000, errorCode: null })
        yield* recordings.settle(one.agent.id, { durationMs: 1_000, errorCode: null })
      }
      yield* (yield* Agents).remove(old.ws, old.agent_id)
      assert.lengthOf(yield* recordings.ofSession(old.ws, old.id), 2)
      yield* sql`UPDATE recording_tracks SET ended_at = now() WHERE session_id <> ${old.id} AND ended_at IS NOT NULL`
      yield* sql`UPDATE recording_tracks SET ended_at = now() - interval '8 days' WHERE session_id = ${old.id}`
      assert.strictEqual(yield* recordings.expire(9), 0)
      assert.strictEqual(yield* recordings.expire(7), 2)
      assert.strictEqual((yield* Effect.flip(recordings.ofSession(old.ws, old.id))).status, 404)
      assert.isFalse(existsSync(old.path(old.user)))
      assert.lengthOf(yield* recordings.ofSession(young.ws, young.id), 2)
      assert.isTrue(existsSync(young.path(young.user)))
    })
  )
})
