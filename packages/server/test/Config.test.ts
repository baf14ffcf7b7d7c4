import { assert, describe, it } from "@effect/vitest"
import { Redacted, Result } from "effect"
import { readFileSync } from "node:fs"
import { readConfig } from "../src/Config.ts"
import { table } from "../src/config/settingsTable.ts"

const fault = (env: Record<string, string>): string => {
  const result = readConfig(env)
  return Result.isFailure(result) ? result.failure : "accepted"
}

describe("Config", () => {
  it("has defaults for everything", () => {
    const config = Result.getOrThrow(readConfig({}))
    assert.deepInclude(config, { host: "127.0.0.1", port: 8080, data: "./data", vendor: "vendor", maxCalls: 100 })
    assert.deepStrictEqual(
      [config.tts.providers, config.asr.providers, config.llm.providers],
      [["flite"], ["pocketsphinx"], ["demo"]]
    )
    assert.isUndefined(config.apiKey)
    assert.isUndefined(config.trialBalance)
  })

  it("serves by an endpoint as soon as its address is set, and by nothing else unless it is named", () => {
    const config = Result.getOrThrow(
      readConfig({
        PARLEY_LLM_BASE_URL: "http://127.0.0.1:11434/v1/",
        PARLEY_LLM_API_KEY: "sk-1",
        PARLEY_LLM_EXTRA_BODY: '{"top_k":1}'
      })
    )
    assert.deepStrictEqual(config.llm.providers, ["openai"])
    assert.deepInclude(config.llm.endpoint, { baseUrl: "http://127.0.0.1:11434/v1", model: "default" })
    assert.strictEqual(Redacted.value(config.llm.endpoint?.apiKey ?? Redacted.make("")), "sk-1")
    assert.deepStrictEqual(config.llm.extraBody, { top_k: 1 })
    const both = Result.getOrThrow(
      readConfig({ PARLEY_TTS: "openai, flite", PARLEY_TTS_BASE_URL: "https://tts.example/v1" })
    )
    assert.deepStrictEqual(both.tts.providers, ["openai", "flite"])
  })

  it("knows where the vendors of sockets live and what their models are called", () => {
    const config = Result.getOrThrow(
      readConfig({ PARLEY_TTS: "elevenlabs,flite", PARLEY_TTS_VOICES: "anna", PARLEY_ASR: "deepgram" })
    )
    assert.deepInclude(config.tts.endpoint, { baseUrl: "https://api.elevenlabs.io", model: "eleven_flash_v2_5" })
    assert.deepInclude(config.asr.endpoint, { baseUrl: "https://api.deepgram.com", model: "nova-3" })
    const own = Result.getOrThrow(
      readConfig({
        PARLEY_ASR: "elevenlabs",
        PARLEY_ASR_BASE_URL: "http://127.0.0.1:8080/compat/elevenlabs/",
        PARLEY_ASR_MODEL: "scribe"
      })
    )
    assert.deepInclude(own.asr.endpoint, { baseUrl: "http://127.0.0.1:8080/compat/elevenlabs", model: "scribe" })
  })

  it("serves by a model folder as soon as it is set, and by an endpoint before that", () => {
    const config = Result.getOrThrow(
      readConfig({ PARLEY_TTS_MODEL_FOLDER: "/models/voice", PARLEY_ASR_MODEL_FOLDER: "/models/recogniser" })
    )
    assert.deepStrictEqual([config.tts.providers, config.tts.modelFolder], [["sherpa"], "/models/voice"])
    assert.deepStrictEqual([config.asr.providers, config.asr.modelFolder], [["sherpa"], "/models/recogniser"])
    const both = Result.getOrThrow(
      readConfig({ PARLEY_TTS_MODEL_FOLDER: "/models/voice", PARLEY_TTS_BASE_URL: "https://tts.example/v1" })
    )
    assert.deepStrictEqual(both.tts.providers, ["openai"])
  })

  it.each([
    [{ PORT: "70000" }, "PORT"],
    [{ PORT: "1.5" }, "PORT"],
    [{ DATABASE_URL: "mysql://u:hidden@h/d" }, "DATABASE_URL"],
    [{ PARLEY_SECRET_KEY: "hidden" }, "PARLEY_SECRET_KEY"],
    [{ PARLEY_API_KEY: "hidden with space, and more than 32 characters" }, "PARLEY_API_KEY must not contain"],
    [{ PARLEY_API_KEY: `hidden-${"x".repeat(24)}` }, "PARLEY_API_KEY must have at least 32 characters"],
    [{ PARLEY_SECRET_KEY_OLD: "a-key-of-some-length, hidden" }, "PARLEY_SECRET_KEY_OLD"],
    [{ PARLEY_TTS: "festival" }, "PARLEY_TTS"],
    [{ PARLEY_ASR: "openai" }, "PARLEY_ASR_BASE_URL"],
    [{ PARLEY_ASR: "deepgram,elevenlabs" }, "PARLEY_ASR"],
    [{ PARLEY_ASR: "sherpa" }, "PARLEY_ASR_MODEL_FOLDER"],
    [{ PARLEY_TTS: "deepgram" }, "PARLEY_TTS"],
    [{ PARLEY_TTS: "elevenlabs" }, "PARLEY_TTS_VOICES"],
    [{ PARLEY_LLM: "sherpa" }, "PARLEY_LLM"],
    [{ PARLEY_LLM: "," }, "PARLEY_LLM"],
    [{ PARLEY_LLM_BASE_URL: "localhost:1" }, "PARLEY_LLM_BASE_URL"],
    [{ PARLEY_LLM_EXTRA_BODY: "[hidden]" }, "PARLEY_LLM_EXTRA_BODY"],
    [{ PARLEY_VENDOR: "No Vendor" }, "PARLEY_VENDOR"],
    [{ PARLEY_LOG_LEVEL: "loud" }, "PARLEY_LOG_LEVEL"],
    [{ PARLEY_MAX_CALLS: "0" }, "PARLEY_MAX_CALLS"],
    [{ PARLEY_TRIAL_BALANCE: "-5" }, "PARLEY_TRIAL_BALANCE"],
    [{ PARLEY_TRIAL_BALANCE: "5e3" }, "PARLEY_TRIAL_BALANCE"],
    [{ PARLEY_MEDIA_ADDRESS: "example.com" }, "PARLEY_MEDIA_ADDRESS"],
    [{ PARLEY_MEDIA_PORTS: "200-100" }, "PARLEY_MEDIA_PORTS"],
    [{ PARLEY_PUBLIC_URL: "ftp://x" }, "PARLEY_PUBLIC_URL"],
    [{ PARLEY_ALLOW_PRIVATE_NETWORKS: "llm.lan, 10.0.0.0/33" }, "PARLEY_ALLOW_PRIVATE_NETWORKS"],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "nowhere" }, "OTEL_EXPORTER_OTLP_ENDPOINT"]
  ])("names the wrong setting of %j and does not repeat its value", (env, name) => {
    assert.include(fault(env), name)
    assert.notInclude(fault(env), "hidden")
    assert.notInclude(fault(env), "\n")
  })

  it("is documented in the root README, every setting as the table has it", () => {
    const readme = readFileSync(new URL("../../../README.md", import.meta.url), "utf8")
    for (const [name, fallback, meaning] of table) {
      assert.include(readme, `| \`${name}\` | ${fallback === "" ? "" : `\`${fallback}\``} | ${meaning} |`)
    }
  })
})
