// The main API through its official SDK, unmodified: speech, live text, recognition, voices, the wallet.
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { drain, foreignKey, long, post, reference, rejection, sentence, spoken, wordErrorRate } from "./SpeechClient.ts"
import { ffmpegMissing, probed } from "./MediaProbe.ts"
import { type FishAudio, fishAudio, liveEvents, peersMissing } from "./Peers.ts"

const deaf = findPocketSphinx() === undefined
const once = { maxRetries: 0 }

describe.skipIf(peersMissing)("the main API through its official SDK", { timeout: 60_000 }, () => {
  let service: RunningService
  let sdk: FishAudio

  beforeAll(async () => {
    service = await startService({ PARLEY_TRIAL_BALANCE: "1000" })
    sdk = fishAudio(service.url, service.key)
  })
  afterAll(() => service.stop())

  const formats = [
    [{ format: "mp3", mp3_bitrate: 64 }, "mp3", 44_100, 64_000],
    [{ format: "mp3", mp3_bitrate: 128 }, "mp3", 44_100, 128_000],
    [{ format: "mp3", mp3_bitrate: 192, sample_rate: 32_000 }, "mp3", 32_000, 192_000],
    [{ format: "wav", sample_rate: 24_000 }, "pcm_s16le", 24_000, 384_000],
    [{ format: "pcm", sample_rate: 16_000 }, "pcm_s16le", 16_000, 256_000],
    [{ format: "opus", opus_bitrate: 32 }, "opus", 48_000, 0],
    [{ format: "opus", opus_bitrate: -1000 }, "opus", 48_000, 0]
  ] as const

  it.skipIf(ffmpegMissing).for(formats)("speaks %j", async ([fields, codec, sampleRate, bitsPerSecond]) => {
    const { bytes } = await drain(await sdk.textToSpeech.convert({ text: sentence, ...fields }, "s2.1-pro", once))
    const probe = probed(bytes, fields.format === "pcm" ? sampleRate : undefined)
    expect(probe).toMatchObject({ codec, sampleRate, channels: 1, complaints: "" })
    if (bitsPerSecond > 0) expect(probe.bitsPerSecond).toBe(bitsPerSecond)
    expect(probe.seconds).toBeGreaterThan(2)
    expect(probe.seconds).toBeLessThan(8)
    expect(probe.level).toBeGreaterThan(0.02)
  })

  it("streams: the first sound is there long before the last", async () => {
    const text = `${long} ${long} ${long}`
    const { at } = await drain(await sdk.textToSpeech.convert({ text, format: "mp3" }, "s1", once))
    expect(at.length).toBeGreaterThan(4)
    expect(at[0]!).toBeLessThan(at.at(-1)! * 0.6)
  })

  it("copies a voice that comes along", async () => {
    const { audio, text } = await reference(service)
    const references = [{ audio: new File([audio], "reference.wav"), text }]
    const given = { text: sentence, format: "mp3", references }
    expect((await drain(await sdk.textToSpeech.convert(given, "s2.1-pro", once))).bytes.length).toBeGreaterThan(10_000)
  })

  it.skipIf(ffmpegMissing)("speaks live text as it comes", async () => {
    const pieces = ["The weather is nice today ", "and we are going ", "to the market. ", "Will you come too?"]
    const text = async function* () {
      for (const piece of pieces) yield piece
    }
    const heard: Array<Uint8Array> = []
    const faults: Array<unknown> = []
    const connection = await sdk.textToSpeech.convertRealtime({ text: "", format: "mp3" }, text(), "s2-pro")
    const closed = new Promise<void>((resolve) => connection.on(liveEvents.close, () => resolve()))
    connection.on(liveEvents.audio, (sound) => {
      if (sound instanceof Uint8Array) heard.push(sound)
    })
    connection.on(liveEvents.error, (fault) => void faults.push(fault))
    await closed
    expect(faults).toEqual([])
    const probe = probed(Buffer.concat(heard))
    expect(probe).toMatchObject({ codec: "mp3", complaints: "" })
    expect(probe.seconds).toBeGreaterThan(3)
  })

  it.skipIf(ffmpegMissing)("tells word times beside the sound (server-sent events)", async () => {
    const answer = await post(service, "/v1/tts/stream/with-timestamp", {
      text: long,
      format: "pcm",
      sample_rate: 16_000
    })
    expect(answer.headers.get("content-type")).toMatch(/^text\/event-stream/)
    const events = (await answer.text()).split("\n\n").filter((event) => event !== "")
    expect(events.every((event) => event.startsWith("data: {"))).toBe(true)
    const told = events.map((event) => JSON.parse(event.slice(6)) as TimedEvent)
    const newest = new Map(told.filter(({ alignment }) => alignment !== null).map((one) => [one.chunk_seq, one]))
    const words = [...newest.values()].flatMap(({ alignment, chunk_audio_offset_sec: offset }) =>
      (alignment?.segments ?? []).map(({ end, start, text }) => ({ text, start: start + offset, end: end + offset }))
    )
    expect(newest.size).toBeGreaterThan(1)
    expect(words.map(({ text }) => text)).toEqual(long.match(/\w+/g))
    words.forEach(({ end, start }, i) => {
      expect(start).toBeGreaterThanOrEqual((words[i - 1]?.start ?? 0) - 0.001)
      expect(end).toBeGreaterThan(start)
    })
    const bytes = told.reduce((sum, { audio_base64 }) => sum + Buffer.from(audio_base64, "base64").length, 0)
    expect(words.at(-1)?.end).toBeLessThanOrEqual(bytes / 32_000 + 0.05)
    expect(words.at(-1)?.end).toBeGreaterThan((bytes / 32_000) * 0.9)
  })

  it("makes, finds, changes and removes a voice, and pays from the wallet", async () => {
    const { audio } = await reference(service)
    const before = Number((await sdk.user.get_api_credit()).credit)
    const made = await sdk.voices.ivc.create({
      title: "Uncle",
      voices: [new File([audio], "uncle.wav")],
      texts: ["My sister has a little house by the river"],
      tags: ["calm"],
      visibility: "private"
    })
    expect(made).toMatchObject({ title: "Uncle", state: "trained", visibility: "private" })
    expect(await sdk.voices.search({ self: true, title: "Uncle" })).toMatchObject({
      total: 1,
      items: [{ _id: made._id }]
    })
    await sdk.voices.update(made._id, { title: "Great-uncle", visibility: "unlist" })
    expect(await sdk.voices.get(made._id)).toMatchObject({ title: "Great-uncle", visibility: "unlist" })
    const given = { text: sentence, reference_id: made._id, format: "pcm" }
    expect((await drain(await sdk.textToSpeech.convert(given, "s2.1-pro", once))).bytes.length).toBeGreaterThan(10_000)
    await sdk.voices.delete(made._id)
    expect(await rejection(sdk.voices.get(made._id, {}, once))).toMatchObject({ statusCode: 404 })
    expect(Number((await sdk.user.get_api_credit()).credit)).toBeLessThan(before)
    expect((await sdk.user.get_package()).total).toBeTypeOf("number")
  })

  it("keeps a foreign voice apart and lends an unlisted one", async () => {
    const other = fishAudio(service.url, await foreignKey(service))
    const { audio } = await reference(service)
    const voices = [new File([audio], "own.wav")]
    const { _id } = await sdk.voices.ivc.create({
      title: "Own",
      voices,
      texts: [long.replaceAll(",", "")],
      visibility: "private"
    })
    const speak = () => other.textToSpeech.convert({ text: sentence, reference_id: _id }, "s2.1-pro", once)
    expect((await rejection(other.voices.get(_id, {}, once))).statusCode).toBe(403)
    expect(await rejection(speak())).toMatchObject({ statusCode: 400, body: { message: "Reference not found" } })
    await sdk.voices.update(_id, { visibility: "unlist" })
    expect(await other.voices.get(_id)).toMatchObject({ _id })
    expect((await drain(await speak())).bytes.length).toBeGreaterThan(10_000)
    expect((await rejection(other.voices.update(_id, { title: "Mine" }, once))).statusCode).toBe(403)
    expect((await rejection(other.voices.delete(_id, {}, once))).statusCode).toBe(403)
  })

  it("refuses with the statuses that the SDK knows", async () => {
    const bad = fishAudio(service.url, "not-a-key")
    expect((await rejection(bad.textToSpeech.convert({ text: sentence }, "s1", once))).statusCode).toBe(401)
    const fast = sdk.textToSpeech.convert({ text: sentence, prosody: { speed: 9 } }, "s1", once)
    expect(await rejection(fast)).toMatchObject({ name: "UnprocessableEntityError", statusCode: 422 })
    expect((await rejection(sdk.textToSpeech.convert({ text: "" }, "s1", once))).statusCode).toBe(400)
  })

  it.skipIf(deaf)("listens (needs PocketSphinx)", async () => {
    const wav = await spoken(service, sentence)
    const heard = await sdk.speechToText.convert({ audio: new File([wav], "speech.wav"), ignore_timestamps: false })
    expect(wordErrorRate(sentence, heard.text)).toBeLessThan(0.35)
    expect(heard.duration).toBeCloseTo((wav.length - 44) / 32_000, 1)
    expect(heard.segments.map(({ text }) => text).join(" ")).toBe(heard.text)
    const bare = { audio: new File([wav], "speech.wav"), ignore_timestamps: true, language: "en" }
    expect((await sdk.speechToText.convert(bare)).segments).toEqual([])
  })
})

interface TimedEvent {
  readonly audio_base64: string
  readonly chunk_seq: number
  readonly chunk_audio_offset_sec: number
  readonly alignment: {
    readonly segments: ReadonlyArray<{ readonly text: string; readonly start: number; readonly end: number }>
  } | null
}
