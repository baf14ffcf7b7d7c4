// The examples run, as they stand, and do what they say.
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { make as fakeChatServer } from "@parley/llm/testing/FakeChatServer"
import { encodeWav, parseWav } from "@parley/audio/Wav"
import { spawn } from "node:child_process"
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { speakToWav } from "@parley/speech/testing/speakToWav"
import { startService } from "@parley/server/testing/RunningService"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const run = (example: string, args: ReadonlyArray<string>, env: Record<string, string> = {}) =>
  Effect.callback<{ readonly out: string; readonly code: number | null }>((resume) => {
    const child = spawn(process.execPath, [join(import.meta.dirname, "..", example), ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    let out = ""
    child.stdout.on("data", (data: Buffer) => (out += data.toString()))
    child.stderr.on("data", (data: Buffer) => (out += data.toString()))
    child.on("close", (code) => resume(Effect.succeed({ out, code })))
    return Effect.sync(() => child.kill())
  })

describe("the examples", () => {
  it.live("01 says one thing", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "parley-example-"))
      const file = join(folder, "morning.wav")
      const { code, out } = yield* run("01-say-one-thing.ts", ["Good morning to all of you.", file])
      assert.strictEqual(code, 0, out)
      const wav = parseWav(readFileSync(file))
      rmSync(folder, { recursive: true })
      assert.isAbove(wav.samples.length / wav.sampleRate, 0.8)
      assert.match(out, /morning/)
    })
  )

  it.live(
    "02 holds a conversation on the embedded engines",
    () =>
      Effect.gen(function* () {
        const { code, out } = yield* run("02-embed-the-engine.ts", ["I need an appointment", "on monday at ten"])
        assert.strictEqual(code, 0, out)
        assert.match(out, /Monday at 10\. What is your name/)
        assert.match(out, /user_hangup/)
      }),
    40_000
  )

  it.live("04 asks a model by one setting", () =>
    Effect.gen(function* () {
      const server = yield* fakeChatServer(() => ({ kind: "say", text: "I am a model on loopback." }))
      const { code, out } = yield* run("04-use-a-real-llm.ts", ["Hello"], {
        PARLEY_LLM_BASE_URL: server.baseUrl,
        PARLEY_LLM_MODEL: "m"
      })
      assert.strictEqual(code, 0, out)
      assert.strictEqual(out.trim(), "I am a model on loopback.")
    })
  )

  it.live(
    "05 makes a voice from a recording and is understood with it",
    () =>
      Effect.gen(function* () {
        const service = yield* Effect.acquireRelease(
          Effect.promise(() => startService()),
          (running) => Effect.promise(() => running.stop())
        )
        const folder = mkdtempSync(join(tmpdir(), "parley-example-"))
        const recording = join(folder, "recording.wav")
        const file = join(folder, "spoken.mp3")
        const samples = speakToWav("This is a recording of somebody who has something to say.")
        writeFileSync(recording, encodeWav(samples, 16_000))
        const { code, out } = yield* run(
          "05-a-voice-from-a-recording.ts",
          [recording, "The quick brown fox jumps over the lazy dog.", file],
          { PARLEY_URL: service.url, PARLEY_API_KEY: service.key }
        )
        assert.strictEqual(code, 0, out)
        assert.match(out, /^[0-9a-f]{32} {2}adapted/)
        assert.match(out, /spoken\.mp3: [2-5]\.\d s/)
        if (findPocketSphinx() !== undefined) assert.match(out, /heard as: .*(fox|dog)/)
        rmSync(folder, { recursive: true })
      }).pipe(Effect.scoped),
    40_000
  )
})
