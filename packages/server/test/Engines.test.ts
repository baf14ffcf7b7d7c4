import { assert, describe, it } from "@effect/vitest"
import { vits } from "@parley/speech/testing/toyModels"
import { encodeModel, floatType } from "@parley/speech/testing/OnnxWriter"
import { Platform } from "@parley/workspace/Platform"
import { Effect, Layer } from "effect"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll } from "vitest"
import { platformLayer } from "../src/Engines.ts"
import { Settings } from "../src/Settings.ts"
import { testConfig } from "../src/testing/testConfig.ts"

const root = mkdtempSync(join(tmpdir(), "parley-engines-"))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const platformOf = (env: Record<string, string>) =>
  Effect.provide(
    Platform,
    Layer.fresh(platformLayer).pipe(Layer.provide(Layer.succeed(Settings, testConfig(root, env))))
  )

const zipVoice = (): string => {
  const folder = join(root, "zipvoice")
  mkdirSync(folder, { recursive: true })
  const inputs = [{ name: "x", type: floatType, dims: ["N"] }]
  const model = encodeModel({ nodes: [], constants: [], inputs, outputs: [], metadata: {} })
  for (const name of ["text_encoder.onnx", "fm_decoder.onnx", "vocos.onnx"]) writeFileSync(join(folder, name), model)
  writeFileSync(join(folder, "tokens.txt"), "a 0\n")
  writeFileSync(join(folder, "reference.wav"), "")
  writeFileSync(join(folder, "reference.txt"), "Hello.")
  return folder
}

describe("Engines", () => {
  it.effect("offers the voices of a model folder, of an endpoint, and the embedded ones where they serve", () =>
    Effect.gen(function* () {
      const own = yield* platformOf({ PARLEY_TTS: "sherpa,flite", PARLEY_TTS_MODEL_FOLDER: vits(root) })
      assert.deepStrictEqual([...own.voices], ["slt", "rms", "awb", "kal16", "sherpa:0", "sherpa:1"])
      const far = yield* platformOf({ PARLEY_TTS: "elevenlabs", PARLEY_TTS_VOICES: "anna,ben" })
      assert.deepStrictEqual([...far.voices], ["anna", "ben"])
      const bad = yield* platformOf({ PARLEY_TTS_MODEL_FOLDER: join(root, "nowhere") })
      assert.deepStrictEqual([...bad.voices], [])
    })
  )

  it.effect("clones when the first synthesizer does", () =>
    Effect.gen(function* () {
      const folder = { PARLEY_TTS_MODEL_FOLDER: zipVoice() }
      assert.isTrue((yield* platformOf(folder)).cloning)
      assert.isFalse((yield* platformOf({ ...folder, PARLEY_TTS: "flite,sherpa" })).cloning)
      assert.isFalse((yield* platformOf({ PARLEY_TTS_MODEL_FOLDER: vits(root) })).cloning)
      assert.isFalse((yield* platformOf({})).cloning)
    })
  )
})
