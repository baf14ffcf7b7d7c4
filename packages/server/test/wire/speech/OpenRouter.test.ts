// The OpenRouter-compatible API through both of its official SDKs, unmodified.
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import {
  drain,
  foreignKey,
  openrouter,
  long,
  operate,
  reference,
  rejection,
  sentence,
  spoken,
  wordErrorRate
} from "./SpeechClient.ts"
import { ffmpegMissing, probed } from "./MediaProbe.ts"
import { type OpenAi, openAi, type OpenRouter, openRouter, peersMissing } from "./Peers.ts"
import { occupyPermit } from "./LiveSocket.ts"

const deaf = findPocketSphinx() === undefined
const model = "vendor-audio/s2.1-pro"
const listener = "vendor-audio/transcribe-1"

describe.skipIf(peersMissing)("the OpenRouter-compatible API through its official SDKs", { timeout: 60_000 }, () => {
  let service: RunningService
  let router: OpenRouter
  let openai: OpenAi

  beforeAll(async () => {
    service = await startService()
    router = openRouter(openrouter(service.url), service.key)
    openai = openAi(openrouter(service.url), service.key)
  })
  afterAll(() => service.stop())

  const speak = async (fields: object, client = router) =>
    await drain(await client.tts.createSpeech({ speechRequest: { model, input: sentence, ...fields } }))

  it.skipIf(ffmpegMissing).for([
    ["mp3", "mp3", 44_100],
    ["pcm", "pcm_s16le", 44_100],
    ["wav", "pcm_s16le", 44_100],
    ["opus", "opus", 48_000]
  ] as const)("speaks %s through both", async ([format, codec, sampleRate]) => {
    const { bytes } = await speak({ responseFormat: format })
    const answer = await openai.audio.speech.create({ model, input: sentence, voice: "", response_format: format })
    for (const sound of [bytes, new Uint8Array(await answer.arrayBuffer())]) {
      const probe = probed(sound, format === "pcm" ? sampleRate : undefined)
      expect(probe).toMatchObject({ codec, sampleRate, channels: 1, complaints: "" })
      expect(probe.seconds).toBeGreaterThan(2)
      expect(probe.seconds).toBeLessThan(8)
      expect(probe.level).toBeGreaterThan(0.02)
    }
  })

  it("streams: the first sound is there long before the last", async () => {
    const input = `${long} ${long} ${long}`
    const { at } = await speak({ input, responseFormat: "mp3" })
    expect(at.length).toBeGreaterThan(4)
    expect(at[0]!).toBeLessThan(at.at(-1)! * 0.6)
  })

  it("speaks faster when asked to, and by the vendor's own words", async () => {
    const [slow, fast, vendor] = [
      await speak({ speed: 0.7 }),
      await speak({ speed: 1.4 }),
      await speak({ provider: { options: { fishAudio: { prosody: { speed: 0.7 } } } } })
    ]
    expect(slow.bytes.length / fast.bytes.length).toBeGreaterThan(1.5)
    expect(vendor.bytes.length / fast.bytes.length).toBeGreaterThan(1.5)
  })

  it("copies a voice that comes along, without keeping it", async () => {
    const { audio, text } = await reference(service)
    const inputReferences = [
      { type: "input_audio", inputAudio: { data: Buffer.from(audio).toString("base64"), format: "wav" } },
      { type: "text", text }
    ]
    expect((await speak({ inputReferences, responseFormat: "mp3" })).bytes.length).toBeGreaterThan(10_000)
    expect(await service.api("GET", "/model?self=true")).toMatchObject({ total: 0 })
  })

  it("lists its models to anybody", async () => {
    const ids = [
      "vendor-audio/s2.1-pro",
      "vendor-audio/s2.1-pro-free",
      "vendor-audio/s2-pro",
      "vendor-audio/s1",
      listener
    ]
    const nobody = openRouter(openrouter(service.url), undefined)
    for await (const { result } of await nobody.models.list({})) expect(result.data.map(({ id }) => id)).toEqual(ids)
    for await (const { result } of await nobody.models.list({ outputModalities: "text" })) {
      expect(result.data.map(({ id }) => id)).toEqual([listener])
    }
    expect((await openai.models.list()).data.map(({ id }) => id)).toEqual(ids)
  })

  it("keeps foreign voices apart", async () => {
    const other = openRouter(openrouter(service.url), await foreignKey(service))
    const form = new FormData()
    for (const [name, value] of Object.entries({ type: "tts", title: "Aunt", train_mode: "fast", texts: long })) {
      form.set(name, value)
    }
    form.set("voices", new Blob([(await reference(service)).audio]), "aunt.wav")
    const headers = { authorization: `Bearer ${service.key}` }
    const made = await fetch(`${service.url}/model`, { method: "POST", headers, body: form })
    const { _id: voice } = (await made.json()) as { readonly _id: string }
    expect((await speak({ voice })).bytes.length).toBeGreaterThan(10_000)
    expect(await rejection(speak({ voice }, other))).toMatchObject({ name: "BadRequestResponseError", statusCode: 400 })
    await service.api("PATCH", `/model/${voice}`, { visibility: "unlist" })
    expect((await speak({ voice }, other)).bytes.length).toBeGreaterThan(10_000)
    await service.api("DELETE", `/model/${voice}`)
    expect((await rejection(speak({ voice }))).statusCode).toBe(400)
  })

  it("refuses with the classes that the SDKs know", async () => {
    const url = openrouter(service.url)
    const say = (key: string) => speak({}, openRouter(url, key))
    const create = (key: string, fields: object = {}) =>
      openAi(url, key).audio.speech.create({ model, input: sentence, voice: "", ...fields })

    expect(await rejection(say("not-a-key"))).toMatchObject({ name: "UnauthorizedResponseError", statusCode: 401 })
    expect(await rejection(create("not-a-key"))).toMatchObject({ name: "AuthenticationError", statusCode: 401 })
    expect(await rejection(speak({ model: "vendor-audio/none" }))).toMatchObject({ name: "BadRequestResponseError" })
    expect(await rejection(create(service.key, { input: "" }))).toMatchObject({ name: "BadRequestError" })
    expect(await rejection(create(service.key, { response_format: "flac" }))).toMatchObject({ name: "BadRequestError" })
    const lost = openAi(`${url}/nowhere`, service.key).models.list()
    expect(await rejection(lost)).toMatchObject({ name: "NotFoundError", statusCode: 404 })

    const poor = await foreignKey(service, "poor")
    await operate(service, "credit", "add", "--workspace", "poor", "--", "-5")
    await expect
      .poll(async () => (await rejection(say(poor))).name, { timeout: 10_000 })
      .toBe("PaymentRequiredResponseError")
    expect((await rejection(create(poor))).statusCode).toBe(402)
    expect((await speak({ model: "vendor-audio/s2.1-pro-free" }, openRouter(url, poor))).bytes.length).toBeGreaterThan(
      1000
    )

    const narrow = await foreignKey(service, "narrow")
    await operate(service, "credit", "concurrency", "--workspace", "narrow", "1")
    const leave = await occupyPermit(service, narrow)
    await expect.poll(async () => (await rejection(create(narrow))).name, { timeout: 10_000 }).toBe("RateLimitError")
    expect(await rejection(say(narrow))).toMatchObject({ name: "TooManyRequestsResponseError", statusCode: 429 })
    await leave()
    await expect
      .poll(
        () =>
          say(narrow).then(
            () => "served",
            () => "refused"
          ),
        { timeout: 10_000 }
      )
      .toBe("served")
  })

  describe.skipIf(deaf)("listening (needs PocketSphinx)", () => {
    let wav: Uint8Array<ArrayBuffer>
    beforeAll(async () => {
      wav = await spoken(service, sentence)
    })
    const json = (fields: object = {}) =>
      router.stt.createTranscription({
        sttRequest: {
          model: listener,
          inputAudio: { data: Buffer.from(wav).toString("base64"), format: "wav" },
          ...fields
        }
      })
    const expectWords = (words: ReadonlyArray<{ word: string; start: number; end: number }> = []) => {
      expectHeard(words.map(({ word }) => word).join(" "))
      words.forEach(({ end, start }, i) => {
        expect(start).toBeGreaterThanOrEqual(words[i - 1]?.start ?? 0)
        expect(end).toBeGreaterThan(start)
      })
      expect(words.at(-1)?.end).toBeLessThanOrEqual((wav.length - 44) / 32_000 + 0.1)
    }

    it("transcribes JSON, form and file", async () => {
      expectHeard((await json()).text)
      const multipart = { model: listener, file: { fileName: "speech.wav", content: wav } }
      expectHeard((await router.stt.createTranscriptionMultipart({ requestBody: multipart })).text)
      const file = new File([wav], "speech.wav")
      expectHeard((await openai.audio.transcriptions.create({ model: listener, file })).text)
    })

    it("tells word times when asked", async () => {
      const verbose = { responseFormat: "verbose_json", timestampGranularities: ["word"] }
      const heard = await json(verbose)
      expectWords(heard.words)
      expect(heard.duration).toBeCloseTo((wav.length - 44) / 32_000, 1)
      const file = { fileName: "speech.wav", content: wav }
      const form = await router.stt.createTranscriptionMultipart({ requestBody: { model: listener, file, ...verbose } })
      expectWords(form.words)
      const given = { model: listener, file: new File([wav], "a.wav"), response_format: "verbose_json" }
      const openaiHeard = await openai.audio.transcriptions.create({
        ...given,
        timestamp_granularities: ["word", "segment"]
      })
      expectWords(openaiHeard.words)
      expect(openaiHeard.segments).toMatchObject([{ id: 0 }])
      expect((await openai.audio.transcriptions.create(given)).words).toBeUndefined()
    })

    it("refuses what it does not offer", async () => {
      for (const fields of [{ model }, { responseFormat: "srt" }]) {
        expect(await rejection(json(fields))).toMatchObject({ name: "BadRequestResponseError", statusCode: 400 })
      }
      const text = new File(["these are words and no sound"], "speech.wav")
      const told = await rejection(openai.audio.transcriptions.create({ model: listener, file: text }))
      expect(told).toMatchObject({ name: "BadRequestError", statusCode: 400 })
    })
  })
})

const expectHeard = (text: string): void => expect(wordErrorRate(sentence, text)).toBeLessThan(0.35)
