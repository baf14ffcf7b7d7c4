// One Parley speaks and hears through another, over the sockets of the ElevenLabs-compatible API. The far one has toy models of which every
// word can be checked: what is sung at one end is read at the other.
import { makeElevenLabsSynthesizer } from "@parley/speech/elevenlabs/ElevenLabsSynthesizer"
import { makeElevenLabsTranscriber } from "@parley/speech/elevenlabs/ElevenLabsTranscriber"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { SynthesisRequest } from "@parley/speech/ports/Synthesizer"
import type { TranscriptEvent } from "@parley/speech/ports/Transcriber"
import { runtimeMissing } from "@parley/speech/sherpa/sherpaRuntime"
import { letterMs, offlineCtc, play, vits } from "@parley/speech/testing/toyModels"
import { Effect, Redacted, Stream } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../src/testing/RunningService.ts"

const voice = { id: "sherpa:1", name: "", language: "" }
const phrase: SynthesisRequest = { text: "Hello world.", voice: "", speed: 1, language: "en", urgent: true }

const speech = ({ key, url }: RunningService) => ({
  baseUrl: `${url}/compat/elevenlabs`,
  apiKey: Redacted.make(key),
  model: "any",
  voices: [voice] as const
})

/** All sound and the last word times. */
const spoken = (service: RunningService, request: Partial<SynthesisRequest> = {}) =>
  Effect.runPromise(
    Effect.map(
      Stream.runCollect(makeElevenLabsSynthesizer(speech(service)).synthesize({ ...phrase, ...request })),
      (chunks) => ({
        samples: chunks.flatMap((chunk) => (chunk._tag === "Audio" ? [...chunk.samples] : [])),
        words: chunks.findLast((chunk) => chunk._tag === "Words")?.words ?? []
      })
    )
  )

const heard = (service: RunningService, texts: ReadonlyArray<string>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const events: Array<TranscriptEvent> = []
        const failures: Array<SpeechError> = []
        const stream = yield* makeElevenLabsTranscriber({ ...speech(service), finalMs: 10_000 }).open({
          language: "en",
          keyterms: [],
          onEvent: (event) => events.push(event),
          onFailure: (error) => failures.push(error)
        })
        for (const text of texts) {
          stream.push(play(text))
          stream.commit()
        }
        for (let i = 0; i < 1000 && events.length < texts.length && failures.length === 0; i++) yield* Effect.sleep(10)
        expect(failures).toEqual([])
        return events
      })
    )
  )

describe.skipIf(runtimeMissing() !== undefined)("one Parley behind another", { timeout: 60_000 }, () => {
  const root = mkdtempSync(join(tmpdir(), "parley-toys-"))
  const services: Array<RunningService> = []
  const start = async (env: Record<string, string>): Promise<RunningService> => {
    const service = await startService({ PARLEY_TRIAL_BALANCE: "unlimited", ...env })
    services.push(service)
    return service
  }
  let far: RunningService
  let near: RunningService
  beforeAll(async () => {
    far = await start({ PARLEY_TTS_MODEL_FOLDER: vits(root), PARLEY_ASR_MODEL_FOLDER: offlineCtc(root) })
    const address = { BASE_URL: `${far.url}/compat/elevenlabs`, API_KEY: far.key }
    near = await start({
      PARLEY_TTS: "elevenlabs",
      PARLEY_TTS_VOICES: voice.id,
      PARLEY_ASR: "elevenlabs",
      ...Object.fromEntries(
        Object.entries(address).flatMap(([name, value]) => [
          [`PARLEY_TTS_${name}`, value],
          [`PARLEY_ASR_${name}`, value]
        ])
      )
    })
  })
  afterAll(async () => {
    await Promise.all(services.map((service) => service.stop()))
    rmSync(root, { recursive: true, force: true })
  })

  it.each([
    ["directly", () => far],
    ["through the other one", () => near]
  ])("speaks %s, with the time of each word", async (_, service) => {
    const { samples, words } = await spoken(service())
    const lengthMs = samples.length / 24
    expect(Math.max(...samples.slice(0, 24_000))).toBeGreaterThan(3000)
    // Ten letters at their length, with whatever silence the service puts around a phrase.
    expect(lengthMs).toBeGreaterThan(9 * letterMs)
    expect(words.map((word) => word.text)).toEqual(["Hello", "world."])
    expect(words.every((word) => word.exact && word.endMs <= lengthMs + 1)).toBe(true)
    expect(words[1]?.startMs).toBeGreaterThan(words[0]?.startMs ?? Infinity)
  })

  it.each([
    ["directly", () => far],
    ["through the other one", () => near]
  ])("hears %s exactly what was played, each word in its own utterance", async (_, service) => {
    const texts = ["hello world", "two", "see you later"]
    const events = await heard(service(), texts)
    expect(events.map((event) => event.text)).toEqual(texts)
    for (const [i, text] of texts.entries()) {
      const event = events[i]
      let at = 0
      for (const [j, word] of text.split(" ").entries()) {
        const found = event?._tag === "Final" ? event.words[j] : undefined
        expect(found?.text).toBe(word)
        expect(Math.abs((found?.startMs ?? -1000) - at * letterMs)).toBeLessThan(100)
        at += word.length + 1
      }
    }
  })

  it("says what serves", async () => {
    const health = await (await fetch(`${near.url}/health`)).json()
    expect(health).toMatchObject({
      serves: { tts: [{ name: "elevenlabs", state: "up" }], asr: [{ name: "elevenlabs", state: "up" }] }
    })
  })

  it("hears nothing of a wrong key but Unauthorized", async () => {
    const stranger = { ...near, key: "no-such-key" }
    await expect(spoken(stranger)).rejects.toMatchObject({ reason: "Unauthorized" })
    await expect(heard(stranger, ["one"])).rejects.toMatchObject({ reason: "Unauthorized" })
  })
})
