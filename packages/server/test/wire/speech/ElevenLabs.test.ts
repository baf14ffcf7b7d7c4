// The ElevenLabs-compatible API through its official SDK, unmodified: every call that it maps to the service.
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import {
  drain,
  foreignKey,
  elevenlabs,
  long,
  reference,
  rejection,
  sentence,
  spoken,
  wordErrorRate
} from "./SpeechClient.ts"
import { ffmpegMissing, probed } from "./MediaProbe.ts"
import { type CharacterTimes, type ElevenLabs, elevenLabs, peersMissing, type RealtimeConnection } from "./Peers.ts"

const deaf = findPocketSphinx() === undefined

describe.skipIf(peersMissing)("the ElevenLabs-compatible API through its official SDK", { timeout: 60_000 }, () => {
  let service: RunningService
  let sdk: ElevenLabs
  let stranger: string
  let own: { readonly _id: string }
  let audio: Uint8Array<ArrayBuffer>

  beforeAll(async () => {
    service = await startService()
    sdk = elevenLabs(elevenlabs(service.url), service.key)
    stranger = await foreignKey(service)
    audio = (await reference(service)).audio
    const form = new FormData()
    for (const [name, value] of Object.entries({
      type: "tts",
      title: "Aunt",
      train_mode: "fast",
      tags: "warm",
      texts: long
    })) {
      form.set(name, value)
    }
    form.set("voices", new Blob([audio]), "aunt.wav")
    const made = await fetch(`${service.url}/model`, {
      method: "POST",
      headers: { authorization: `Bearer ${service.key}` },
      body: form
    })
    own = (await made.json()) as typeof own
    expect(made.status, JSON.stringify(own)).toBe(201)
  })
  afterAll(() => service.stop())

  const formats = [
    ["mp3_44100_32", "mp3", 44_100, 64_000],
    ["mp3_44100_64", "mp3", 44_100, 64_000],
    ["mp3_44100_96", "mp3", 44_100, 128_000],
    ["mp3_44100_128", "mp3", 44_100, 128_000],
    ["mp3_44100_192", "mp3", 44_100, 192_000],
    ["opus_48000_64", "opus", 48_000, 0],
    ["wav_8000", "pcm_s16le", 8_000, 128_000],
    ["wav_16000", "pcm_s16le", 16_000, 256_000],
    ["wav_24000", "pcm_s16le", 24_000, 384_000],
    ["wav_44100", "pcm_s16le", 44_100, 705_600],
    ["pcm_8000", "pcm_s16le", 8_000, 128_000],
    ["pcm_16000", "pcm_s16le", 16_000, 256_000],
    ["pcm_24000", "pcm_s16le", 24_000, 384_000],
    ["pcm_32000", "pcm_s16le", 32_000, 512_000],
    ["pcm_44100", "pcm_s16le", 44_100, 705_600]
  ] as const

  it.skipIf(ffmpegMissing).for(formats)("speaks %s", async ([outputFormat, codec, sampleRate, bitsPerSecond]) => {
    const { bytes } = await drain(await sdk.textToSpeech.convert("default", { text: sentence, outputFormat }))
    const probe = probed(bytes, outputFormat.startsWith("pcm") ? sampleRate : undefined)
    expect(probe).toMatchObject({ codec, sampleRate, channels: 1, complaints: "" })
    if (bitsPerSecond > 0) expect(probe.bitsPerSecond).toBe(bitsPerSecond)
    expect(probe.seconds).toBeGreaterThan(2)
    expect(probe.seconds).toBeLessThan(8)
    expect(probe.level).toBeGreaterThan(0.02)
  })

  it.for(["pcm_22050", "pcm_48000", "mp3_22050_32", "ulaw_8000", "alaw_8000", "mp3_24000_48"])(
    "refuses %s",
    async (outputFormat) => {
      const told = await rejection(sdk.textToSpeech.convert("default", { text: sentence, outputFormat }))
      expect(told).toMatchObject({ statusCode: 400, body: { detail: { status: "invalid_request" } } })
    }
  )

  it("streams: the first sound is there long before the last", async () => {
    const { at, bytes } = await drain(await sdk.textToSpeech.stream("default", { text: `${long} ${long} ${long}` }))
    expect(bytes.length).toBeGreaterThan(100_000)
    expect(at.length).toBeGreaterThan(4)
    expect(at[0]!).toBeLessThan(at.at(-1)! * 0.6)
  })

  it("takes every setting that its callers send", async () => {
    const settings = { stability: 0.4, similarityBoost: 0.7, style: 0.2, useSpeakerBoost: true, speed: 1.1 }
    const given = {
      text: sentence,
      modelId: "eleven_multilingual_v2",
      voiceSettings: settings,
      languageCode: "en",
      seed: 7
    }
    const { bytes } = await drain(
      await sdk.textToSpeech.convert("-", { ...given, enableLogging: true, optimizeStreamingLatency: 2 })
    )
    expect(bytes.length).toBeGreaterThan(10_000)
  })

  it("speaks faster when asked to", async () => {
    const lengths: Array<number> = []
    for (const speed of [0.7, 1.2]) {
      const asked = { text: sentence, outputFormat: "pcm_16000", voiceSettings: { speed } }
      lengths.push((await drain(await sdk.textToSpeech.convert("default", asked))).bytes.length)
    }
    expect(lengths[0]! / lengths[1]!).toBeGreaterThan(1.35)
  })

  /** Spells the text, goes forward, and ends with the sound. */
  const expectTimes = (times: CharacterTimes | undefined, text: string, seconds: number): void => {
    const { characterEndTimesSeconds: ends, characterStartTimesSeconds: starts, characters } = times ?? none
    expect(characters.join("")).toBe(text)
    expect([starts.length, ends.length]).toEqual([characters.length, characters.length])
    starts.forEach((start, i) => {
      expect(start).toBeGreaterThanOrEqual(starts[i - 1] ?? 0)
      expect(ends[i]).toBeGreaterThanOrEqual(start)
    })
    expect(ends.at(-1)).toBeLessThanOrEqual(seconds + 0.1)
    expect(ends.at(-1)).toBeGreaterThan(seconds * 0.8)
  }
  const none: CharacterTimes = { characters: [], characterStartTimesSeconds: [], characterEndTimesSeconds: [] }

  it("tells when each character sounds", async () => {
    const text = `${sentence} It costs $12.50, said Zoë.`
    const told = await sdk.textToSpeech.convertWithTimestamps("default", { text, outputFormat: "pcm_16000" })
    const seconds = Buffer.from(told.audioBase64, "base64").length / 32_000
    expectTimes(told.alignment, text, seconds)
    expect(told.normalizedAlignment).toEqual(told.alignment)
  })

  it("tells it in a stream, line by line", async () => {
    const times: Array<CharacterTimes> = []
    let bytes = 0
    let lines = 0
    const given = { text: long, outputFormat: "pcm_16000" }
    for await (const line of await sdk.textToSpeech.streamWithTimestamps("default", given)) {
      lines++
      bytes += Buffer.from(line.audioBase64, "base64").length
      if (line.alignment !== undefined && line.alignment !== null) times.push(line.alignment)
    }
    expect(lines).toBeGreaterThan(3)
    const joined = {
      characters: times.flatMap((one) => one.characters),
      characterStartTimesSeconds: times.flatMap((one) => one.characterStartTimesSeconds),
      characterEndTimesSeconds: times.flatMap((one) => one.characterEndTimesSeconds)
    }
    expectTimes(joined, long, bytes / 32_000)
  })

  it("lists voices, models and the account", async () => {
    const { voices } = await sdk.voices.getAll()
    expect(voices.map(({ voiceId }) => voiceId)).toContain(own._id)
    const found = await sdk.voices.search({ search: "Aunt", pageSize: 1, includeTotalCount: true })
    expect(found).toMatchObject({ hasMore: false, totalCount: 1, voices: [{ voiceId: own._id, name: "Aunt" }] })
    expect(await sdk.voices.get(own._id)).toMatchObject({ voiceId: own._id, labels: { warm: "warm" } })
    expect((await sdk.models.list()).length).toBeGreaterThan(0)
    const user = await sdk.user.get()
    expect(user.userId).not.toBe("")
    expect(user.subscription.characterLimit).toBeGreaterThan(0)
  })

  it("speaks with a voice of the caller's own", async () => {
    const { bytes } = await drain(await sdk.textToSpeech.convert(own._id, { text: sentence }))
    expect(bytes.length).toBeGreaterThan(10_000)
  })

  it("keeps a foreign voice apart: 404 by name, 400 in synthesis, and lends an unlisted one", async () => {
    const other = elevenLabs(elevenlabs(service.url), stranger)
    const speak = () => other.textToSpeech.convert(own._id, { text: sentence })
    expect(await rejection(other.voices.get(own._id))).toMatchObject({
      statusCode: 404,
      body: { detail: { status: "voice_not_found" } }
    })
    expect(await rejection(speak())).toMatchObject({
      statusCode: 400,
      body: { detail: { status: "provider_error", message: "Reference not found" } }
    })
    await service.api("PATCH", `/model/${own._id}`, { visibility: "unlist" })
    expect((await drain(await speak())).bytes.length).toBeGreaterThan(10_000)
    const { voices } = await other.voices.getAll()
    expect(voices.map(({ voiceId }) => voiceId)).not.toContain(own._id)
    await service.api("PATCH", `/model/${own._id}`, { visibility: "private" })
    expect((await rejection(speak())).statusCode).toBe(400)
  })

  it("refuses with the statuses that the SDK knows", async () => {
    const bad = elevenLabs(elevenlabs(service.url), "not-a-key")
    expect(await rejection(bad.user.get())).toMatchObject({
      statusCode: 401,
      body: { detail: { status: "provider_error", message: "No permission" } }
    })
    expect(await rejection(sdk.textToSpeech.convert("default", { text: " " }))).toMatchObject({ statusCode: 400 })
    expect(await rejection(sdk.textToSpeech.convert("no-such-voice", { text: sentence }))).toMatchObject({
      statusCode: 400,
      body: { detail: { status: "provider_error" } }
    })
    const unknown = sdk.textToSpeech.convert("default", { text: sentence, modelId: "vendor-audio/none" })
    expect(await rejection(unknown)).toMatchObject({ statusCode: 404, body: { detail: { status: "model_not_found" } } })
  })

  describe.skipIf(deaf)("listening (needs PocketSphinx)", () => {
    let wav: Uint8Array<ArrayBuffer>
    beforeAll(async () => {
      wav = await spoken(service, sentence)
    })

    it("transcribes a recording, word by word", async () => {
      const heard = await sdk.speechToText.convert({ modelId: "scribe_v1", file: new Blob([wav]), languageCode: "en" })
      expect(wordErrorRate(sentence, heard.text)).toBeLessThan(0.35)
      expect(heard).toMatchObject({ languageCode: "en", languageProbability: 1 })
      expect(
        heard.words
          .filter(({ type }) => type === "word")
          .map(({ text }) => text)
          .join(" ")
      ).toBe(heard.text)
      expect(new Set(heard.words.map(({ type }) => type))).toEqual(new Set(["word", "spacing"]))
      heard.words.forEach((word, i) => {
        expect(word.logprob).toBe(0)
        expect(word.start).toBeGreaterThanOrEqual(heard.words[i - 1]?.start ?? 0)
        expect(word.end).toBeGreaterThanOrEqual(word.start ?? 0)
      })
      expect(heard.words.at(-1)?.end).toBeLessThanOrEqual((wav.length - 44) / 32_000 + 0.1)
    })

    it.for([
      { diarize: true },
      { tagAudioEvents: true },
      { timestampsGranularity: "character" },
      { useMultiChannel: true },
      { webhook: true },
      { cloudStorageUrl: "https://files.example/recording" },
      { entityDetection: ["all"] },
      { noVerbatim: true },
      { additionalFormats: [{ format: "srt" }] },
      { enableLogging: false }
    ])("refuses %j", async (option) => {
      const told = await rejection(sdk.speechToText.convert({ modelId: "scribe_v1", file: new Blob([wav]), ...option }))
      expect(told).toMatchObject({ statusCode: 400, body: { detail: { status: "invalid_request" } } })
    })

    it("takes refused options that are switched off", async () => {
      const off = { diarize: false, tagAudioEvents: false, useMultiChannel: false, webhook: false, enableLogging: true }
      const heard = await sdk.speechToText.convert({ modelId: "scribe_v1", file: new Blob([wav]), ...off })
      expect(heard.text).not.toBe("")
    })

    it("listens in real time, and answers each commit twice", async () => {
      const connection = await sdk.speechToText.realtime.connect({
        modelId: "scribe_v2_realtime",
        audioFormat: "pcm_16000",
        sampleRate: 16_000,
        commitStrategy: "manual",
        includeTimestamps: true
      })
      const { event, heard } = listening(connection)
      await event("session_started")
      const pcm = Buffer.from(wav).subarray(44)
      for (let turn = 1; turn <= 2; turn++) {
        for (let at = 0; at < pcm.length; at += 16_000) {
          connection.send({ audioBase64: pcm.subarray(at, at + 16_000).toString("base64"), sampleRate: 16_000 })
        }
        connection.commit()
        await event("committed_transcript_with_timestamps", turn)
      }
      connection.close()
      const kinds = heard.map(({ kind }) => kind).filter((kind) => kind.startsWith("committed"))
      const pair = ["committed_transcript", "committed_transcript_with_timestamps"]
      expect(kinds).toEqual([...pair, ...pair])
      for (const { kind, message } of heard) {
        if (kind === "committed_transcript") expect(wordErrorRate(sentence, String(message["text"]))).toBeLessThan(0.35)
        if (kind === "committed_transcript_with_timestamps") expect(message["words"]).not.toEqual([])
      }
    })

    it("refuses voice-activity commits before the socket is open", async () => {
      const connection = await sdk.speechToText.realtime.connect({
        modelId: "scribe_v2_realtime",
        audioFormat: "pcm_16000",
        sampleRate: 16_000,
        commitStrategy: "vad"
      })
      const { event, heard } = listening(connection)
      await event("error")
      expect(JSON.stringify(heard.find(({ kind }) => kind === "error")?.message)).toContain("400")
    })
  })
})

/** Collects what a connection says. `event` waits until it said so that often. */
const listening = (connection: RealtimeConnection) => {
  const heard: Array<{ readonly kind: string; readonly message: Readonly<Record<string, unknown>> }> = []
  const kinds = ["session_started", "committed_transcript", "committed_transcript_with_timestamps", "error", "close"]
  for (const kind of kinds) {
    connection.on(
      kind,
      (message) => void heard.push({ kind, message: message instanceof Error ? { error: message.message } : message })
    )
  }
  const event = async (kind: string, times = 1): Promise<void> => {
    await expect.poll(() => heard.filter((one) => one.kind === kind).length, { timeout: 30_000 }).toBe(times)
  }
  return { heard, event }
}
