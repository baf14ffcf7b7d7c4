import { assert, layer } from "@effect/vitest"
import { makeOggOpusEncoder } from "@parley/audio/encode/OggOpusEncoder"
import { Agents } from "@parley/workspace/agents/Agents"
import { Blobs } from "@parley/workspace/storage/Blobs"
import { newId } from "@parley/workspace/storage/Id"
import { Platform } from "@parley/workspace/Platform"
import { Recordings } from "@parley/workspace/recordings/Recordings"
import { SessionLife } from "@parley/workspace/sessions/SessionLife"
import { Sessions } from "@parley/workspace/sessions/Sessions"
import * as TestDatabase from "@parley/workspace/testing/TestDatabase"
import { Versions } from "@parley/workspace/agents/Versions"
import * as Workspace from "@parley/workspace/Workspace"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, writeFileSync } from "node:fs"
import { Recorder } from "../../src/recording/Recorder.ts"
import { settleLeft } from "../../src/recording/settleLeft.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: [],
  cloning: false,
  trialBalance: 5_000_000_000n
})
const live = Recorder.layer.pipe(
  Layer.provideMerge(Workspace.layer(undefined)),
  Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer))
)

/** What a recorder leaves that dies after this many seconds: no end, and half a page too much. */
const torn = (seconds: number) =>
  Effect.promise(async () => {
    const encoder = await makeOggOpusEncoder(
      { codec: "opus", sampleRate: 48_000, bitsPerSecond: 24_000 },
      { inputRate: 16_000, packetsPerPage: 25 }
    )
    const bytes = encoder.encode(new Int16Array(seconds * 16_000))
    encoder.close()
    return Buffer.concat([bytes, Buffer.from("OggS and then no more")])
  })

/** An active session with one active track; `file` is what lies at its place. */
const recorded = Effect.fnUntraced(function* (file: Uint8Array | undefined) {
  const ws = yield* (yield* Workspaces).ensure(newId("ws"))
  const { agent_id } = yield* (yield* Agents).create(ws, { name: "Ada" })
  const versions = yield* Versions
  yield* versions.publish(ws, agent_id, {})
  const { id } = yield* (yield* Sessions).create({
    workspaceId: ws,
    runnable: yield* versions.live(ws, agent_id),
    preview: false,
    source: "api_key",
    name: "",
    timezone: "UTC",
    endUserId: "",
    metadata: {},
    input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: true },
    maxDurationSeconds: 60
  })
  yield* (yield* SessionLife).claim(id)
  const blobs = yield* Blobs
  const recordings = yield* Recordings
  const blob = blobs.fresh("recordings")
  if (file !== undefined) writeFileSync(blobs.path(blob), file)
  yield* recordings.begin(id, [{ id: newId("track"), role: "user", blob }], Date.now())
  const track = Effect.map(recordings.ofSession(ws, id), ([row]) => row)
  return { id, path: blobs.path(blob), track }
})

layer(live, { excludeTestServices: true })("RecordingRecovery", (it) => {
  it.effect("settles what a dead process left, by what is on the disk, once the session is over", () =>
    Effect.gen(function* () {
      const life = yield* SessionLife
      const sql = yield* SqlClient.SqlClient
      const settle = yield* settleLeft
      const cut = yield* recorded(yield* torn(4))
      const empty = yield* recorded(new Uint8Array(0))
      const gone = yield* recorded(undefined)
      const alive = yield* recorded(yield* torn(1))
      yield* settle
      assert.strictEqual((yield* cut.track)?.status, "active")
      for (const { id } of [cut, empty, gone]) yield* life.settle(id, "internal_error")
      yield* sql`UPDATE sessions SET ended_at = now() - interval '2 days' WHERE id = ${gone.id}`
      yield* settle
      const whole = yield* cut.track
      assert.deepInclude(whole, { status: "complete", error_code: null })
      assert.isAtLeast(whole?.duration_ms ?? 0, 3_000)
      assert.isAtMost(whole?.duration_ms ?? 0, 4_000)
      assert.isTrue(existsSync(cut.path))
      for (const one of [empty, gone]) {
        assert.deepInclude(yield* one.track, { status: "failed", error_code: "no_sound", duration_ms: 0 })
        assert.isFalse(existsSync(one.path))
      }
      assert.strictEqual((yield* alive.track)?.status, "active")
    })
  )
})
