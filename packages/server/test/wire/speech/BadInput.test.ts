// What clients may send by mistake or malice to the speech endpoints of all three APIs: each gets its status in its API's envelope, and the
// service stays up. 400 for what cannot be read, 413 too large, 415 for another content type, 422 for a wrong field, each with the error
// body of its API.
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { encode } from "@msgpack/msgpack"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { sentence, spoken } from "./SpeechClient.ts"
import { expectEnvelope } from "./Envelopes.ts"
import { rawRequest } from "./RawHttp.ts"

const speaking = [
  { path: "/v1/tts", field: "text", schema: 422, type: 415 },
  { path: "/v1/tts/stream/with-timestamp", field: "text", schema: 422, type: 415 },
  { path: "/compat/elevenlabs/v1/text-to-speech/default", field: "text", schema: 400, type: 200 },
  { path: "/compat/elevenlabs/v1/text-to-speech/default/stream", field: "text", schema: 400, type: 200 },
  { path: "/compat/elevenlabs/v1/text-to-speech/default/with-timestamps", field: "text", schema: 400, type: 200 },
  {
    path: "/compat/elevenlabs/v1/text-to-speech/default/stream/with-timestamps",
    field: "text",
    schema: 400,
    type: 200
  },
  { path: "/compat/api/v1/audio/speech", field: "input", schema: 400, type: 200 }
] as const

const listening = [
  { path: "/v1/asr", field: "audio", type: 415 },
  { path: "/compat/elevenlabs/v1/speech-to-text", field: "file", type: 400 },
  { path: "/compat/api/v1/audio/transcriptions", field: "file", type: 415 }
] as const

const deaf = findPocketSphinx() === undefined
const mebibyte = 2 ** 20

interface Answer {
  readonly status: number
  readonly type: string | null
  readonly body: string
}

const expectRefused = async (
  path: string,
  answer: Promise<Answer>,
  ...statuses: ReadonlyArray<number>
): Promise<void> => {
  const { body, status, type } = await answer
  expect(statuses, `${path} ${body.slice(0, 200)}`).toContain(status)
  expectEnvelope(path, status, type, body)
}

const multipart = (boundary: string) => ({ "content-type": `multipart/form-data${boundary}` })

describe("bad input", { timeout: 60_000 }, () => {
  let service: RunningService
  let wav: Buffer

  beforeAll(async () => {
    service = await startService({ PARLEY_TRIAL_BALANCE: "1000" })
    wav = Buffer.from(await spoken(service, sentence))
  })
  afterAll(() => service.stop())

  const headers = (more: Record<string, string> = {}) => ({
    authorization: `Bearer ${service.key}`,
    "xi-api-key": service.key,
    ...more
  })

  const send = async (path: string, body: string | Uint8Array | FormData, more: Record<string, string> = {}) => {
    const answer = await fetch(service.url + path, {
      method: "POST",
      headers: headers(more),
      body: body instanceof Uint8Array ? Buffer.from(body) : body
    })
    const type = answer.headers.get("content-type")
    return { status: answer.status, type, body: Buffer.from(await answer.arrayBuffer()).toString("latin1") }
  }

  const json = { "content-type": "application/json" }

  describe.for(speaking)("POST $path", ({ field, path, schema, type }) => {
    const model = { model: "vendor-audio/s2.1-pro", voice: "" }
    const given = (fields: object) => JSON.stringify({ ...(field === "input" ? model : {}), ...fields })

    it.for([
      ["nothing", ""],
      ["a cut body", '{"text": "Hello'],
      ["bytes that are no text", Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
      ["MessagePack called JSON", encode({ text: "Hello", input: "Hello" })],
      ["JSON that nests too deep", `${"[".repeat(100_000)}${"]".repeat(100_000)}`]
    ] as const)("refuses %s", async ([, body]) => {
      await expectRefused(path, send(path, body, json), 400, schema)
    })

    it.for([
      ["a list", "[]"],
      ["null", "null"],
      ["a bare text", '"Hello"'],
      ["a number", "7"]
    ])("refuses %s", async ([, body]) => {
      await expectRefused(path, send(path, body!, json), schema)
    })

    it.for([undefined, null, 7, true, {}, ["Hello"]])("refuses %j as its text", async (text) => {
      await expectRefused(path, send(path, given({ [field]: text }), json), schema)
    })

    it.for(["", "   ", "\n\t"])("refuses the empty text %j", async (text) => {
      await expectRefused(path, send(path, given({ [field]: text }), json), 400)
    })

    it("refuses NUL and unpaired surrogates", async () => {
      await expectRefused(path, send(path, given({ [field]: "a\u0000 b" }), json), schema)
      await expectRefused(path, send(path, given({ [field]: "a" }).replace('"a"', '"a \\ud800 b"'), json), 400, schema)
    })

    it("refuses a text that is too long", async () => {
      await expectRefused(path, send(path, given({ [field]: "Hello. ".repeat(15_000) }), json), 400)
    })

    it("refuses a body over its limit before it has come", async () => {
      const limit = path.startsWith("/compat/elevenlabs") ? 140 : 32
      const length = { ...json, "content-length": `${limit * mebibyte + 1}` }
      const { answer, socket } = rawRequest(service, path, headers(length), '{"text":"')
      await expectRefused(path, answer, 413)
      socket.destroy()
    })

    it("says what it takes", async () => {
      const answer = await send(path, given({ [field]: "Hello." }), { "content-type": "text/plain" })
      expect(answer.status, answer.body.slice(0, 200)).toBe(type)
      if (type !== 200) expectEnvelope(path, answer.status, answer.type, answer.body)
    })

    it("asks for a key", async () => {
      const bad = { authorization: "Bearer nobody", "xi-api-key": "nobody" }
      await expectRefused(path, send(path, given({ [field]: "Hello." }), { ...json, ...bad }), 401)
      const none = { authorization: "", "xi-api-key": "" }
      await expectRefused(path, send(path, given({ [field]: "Hello." }), { ...json, ...none }), 401)
    })
  })

  it.for([
    { prosody: { speed: 9 } },
    { prosody: { volume: 99 } },
    { prosody: "loud" },
    { chunk_length: 99 },
    { chunk_length: 100.5 },
    { format: "flac" },
    { format: 7 },
    { mp3_bitrate: 100 },
    { sample_rate: 12_345 },
    { format: "opus", sample_rate: 44_100 },
    { latency: "never" },
    { temperature: 2 },
    { temperature: "warm" },
    { normalize: "yes" },
    { references: "none" },
    { references: [{ audio: "***", text: "a" }] },
    { references: [{ audio: "AAAA" }] },
    { reference_id: 7 },
    { reference_id: "a".repeat(300) }
  ])("POST /v1/tts refuses %j and names the field", async (fields) => {
    const answer = await send("/v1/tts", JSON.stringify({ text: "Hello.", ...fields }), json)
    expect(answer.status, answer.body).toBe(422)
    expectEnvelope("/v1/tts", answer.status, answer.type, answer.body)
    expect(answer.body).toContain(Object.keys(fields).at(-1))
  })

  it.for([
    { references: [{ audio: Buffer.from("no sound at all").toString("base64"), text: "a" }] },
    { reference_id: "6ae7e21769078331c8a5c0b16a546c23" },
    { reference_id: "../../etc/passwd" }
  ])("POST /v1/tts refuses %j", async (fields) => {
    await expectRefused("/v1/tts", send("/v1/tts", JSON.stringify({ text: "Hello.", ...fields }), json), 400)
  })

  it.for([
    ["cut", encode({ text: "Hello there" }).subarray(0, 9)],
    ["garbage", Buffer.from([0xc1, 0xff, 0x00])],
    ["an extension type", Buffer.from([0x81, 0xa4, 0x74, 0x65, 0x78, 0x74, 0xd4, 0x01, 0x00])],
    ["a list", encode(["Hello"])],
    ["a length that lies", Buffer.from([0x81, 0xa4, 0x74, 0x65, 0x78, 0x74, 0xdb, 0x7f, 0xff, 0xff, 0xff, 0x41])]
  ] as const)("POST /v1/tts refuses MessagePack: %s", async ([, body]) => {
    await expectRefused("/v1/tts", send("/v1/tts", body, { "content-type": "application/msgpack" }), 400, 422)
  })

  /** What must be said, whatever it looks like: as many seconds of sound as such a text takes. */
  it.for([
    ["a file's name is read, not the file", "/etc/passwd", 0.5, 6],
    ["a name without a space", "package.json", 0.3, 4],
    ["control characters", "Hello \u0007there\u001b[31m, my\u0001 friend\u007f.", 0.5, 5],
    ["one endless word", "a".repeat(3000), 1, 1000],
    ["markup", "<speak><break time='99h'/>Hello.</speak>", 0.3, 10],
    ["what a shell would read", "$(reboot) `id` && ; | %s %n", 0.2, 12],
    ["right to left and marks", "\u202eHello\u202c e\u0301\u0301\u0301\u0301 there", 0.3, 5]
  ] as const)("speaks %s", async ([, text, least, most]) => {
    const { body, status } = await send("/v1/tts", JSON.stringify({ text, format: "pcm", sample_rate: 8000 }), json)
    expect(status, body.slice(0, 200)).toBe(200)
    expect(body.length / 16_000).toBeGreaterThan(least)
    expect(body.length / 16_000).toBeLessThan(most)
  })

  it.for(["...!?", "\u{1f600}\u{1f44d}", "—", "你好世界", "مرحبا", "\u200b\u200b", "\ufeff"])(
    "answers %j, which it may not be able to say",
    async (text) => {
      for (const { field, path } of speaking) {
        const body = JSON.stringify({ [field]: text, model: "vendor-audio/s2.1-pro" })
        const answer = await send(path, body, json)
        expect([200, 400], `${path} ${answer.body.slice(0, 200)}`).toContain(answer.status)
        if (answer.status !== 200) expectEnvelope(path, answer.status, answer.type, answer.body)
      }
    }
  )

  describe.for(listening)("POST $path", ({ field, path, type }) => {
    const form = (bytes: Uint8Array | undefined, contentType = "audio/wav", filename = "speech.wav") => {
      const sent = new FormData()
      sent.set(
        path === "/v1/asr" ? "language" : path.includes("elevenlabs") ? "model_id" : "model",
        path === "/v1/asr" ? "en" : "vendor-audio/transcribe-1"
      )
      if (bytes !== undefined) sent.append(field, new Blob([Buffer.from(bytes)], { type: contentType }), filename)
      return sent
    }
    /** A second of noise as bare samples. */
    const samples = Buffer.from(Array.from({ length: 32_000 }, (_, i) => (i * 7919) % 256))

    it.for([
      ["an empty file", () => Buffer.alloc(0)],
      ["a text", () => Buffer.from("this is no recording, these are words".repeat(50))],
      ["a picture", () => Buffer.concat([Buffer.from("89504e470d0a1a0a", "hex"), samples])],
      ["an archive", () => Buffer.concat([Buffer.from("PK\u0003\u0004"), samples])],
      ["bare samples", () => samples],
      ["ten bytes", () => wav.subarray(0, 10)],
      ["a header and nothing else", () => wav.subarray(0, 44)],
      ["no more than a click", () => wav.subarray(0, 44 + 640)],
      ["half a header", () => wav.subarray(0, 30)],
      [
        "a WAV of a codec that is none",
        () => Buffer.concat([wav.subarray(0, 20), Buffer.from([0x77, 0x77]), wav.subarray(22)])
      ],
      ["a WAV without a rate", () => Buffer.concat([wav.subarray(0, 24), Buffer.alloc(4), wav.subarray(28)])],
      ["an Ogg that is cut in its head", () => Buffer.concat([Buffer.from("OggS"), Buffer.alloc(20)])],
      [
        "an ID3 tag that never ends",
        () => Buffer.concat([Buffer.from("ID3\u0004\u0000\u0000\u007f\u007f\u007f\u007f", "latin1"), samples])
      ],
      ["a FLAC of nothing", () => Buffer.concat([Buffer.from("fLaC"), Buffer.alloc(60)])]
    ] as const)("refuses %s", async ([, bytes]) => {
      await expectRefused(path, send(path, form(bytes())), 400)
    })

    it("refuses a form without a recording, with two, and with one that is text", async () => {
      await expectRefused(path, send(path, form(undefined)), 400)
      const two = form(wav)
      two.append(field, new Blob([wav]), "again.wav")
      await expectRefused(path, send(path, two), 400)
      const text = form(undefined)
      text.set(field, "speech.wav")
      await expectRefused(path, send(path, text), 400)
    })

    it("refuses broken forms", async () => {
      const part = `--b\r\nContent-Disposition: form-data; name="${field}"; filename="a.wav"\r\n\r\n`
      for (const [boundary, body] of [
        ["", part],
        ["; boundary=other", `${part}abc\r\n--b--\r\n`],
        ["; boundary=b", `${part}RIFF`],
        ["; boundary=b", "--b\r\nContent-Disposition: nonsense\r\n\r\nabc\r\n--b--\r\n"]
      ] as const) {
        await expectRefused(path, send(path, body, multipart(boundary)), 400)
      }
      await expectRefused(path, send(path, "", multipart("; boundary=b")), 400, 415)
      await expectRefused(path, send(path, "audio", { "content-type": "text/plain" }), type)
    })

    it("refuses an upload over its limit before it has come", async () => {
      const limit = path === "/v1/asr" ? 50 : 100
      const length = {
        "content-type": "multipart/form-data; boundary=b",
        "content-length": `${(limit + 8) * mebibyte}`
      }
      const { answer, socket } = rawRequest(service, path, headers(length), "--b\r\n")
      await expectRefused(path, answer, 413)
      socket.destroy()
    })

    it.skipIf(deaf)("goes by the bytes, not by what they are called", async () => {
      const answer = await send(path, form(wav, "image/png", "../../etc/passwd"))
      expect(answer.status, answer.body).toBe(200)
    })

    it.skipIf(deaf)("hears what is there of a recording that is cut or lies about its length", async () => {
      const lying = Buffer.from(wav)
      lying.writeUInt32LE(0xffff_fff0, 40)
      for (const bytes of [lying, wav.subarray(0, wav.length >> 1)]) {
        const answer = await send(path, form(bytes))
        expect(answer.status, answer.body).toBe(200)
        expect(JSON.parse(answer.body)).toMatchObject({ text: expect.stringMatching(/weather/) })
      }
    })

    it("asks for a key", async () => {
      await expectRefused(path, send(path, form(wav), { authorization: "", "xi-api-key": "" }), 401)
    })
  })

  it.for([
    ["garbage", Buffer.from([0xc1])],
    ["text for a recording", encode({ audio: "RIFF" })],
    ["cut", encode({ audio: new Uint8Array(100) }).subarray(0, 50)],
    ["an unknown language", encode({ audio: new Uint8Array(100), language: "english" })]
  ] as const)("POST /v1/asr refuses MessagePack: %s", async ([, body]) => {
    await expectRefused("/v1/asr", send("/v1/asr", body, { "content-type": "application/msgpack" }), 400)
  })

  it.for([
    ["no instruction", {}, 422],
    ["too long an instruction", { instruction: "a".repeat(2001) }, 422],
    ["too many", { instruction: "a calm voice", n: 9 }, 422],
    ["an unknown field", { instruction: "a calm voice", colour: "red" }, 422],
    ["a list", [], 422]
  ] as const)("POST /v1/voice-design refuses %s", async ([, body, status]) => {
    const model = { ...json, model: "voice-design-1" }
    await expectRefused("/v1/voice-design", send("/v1/voice-design", JSON.stringify(body), model), status)
  })

  it("POST /v1/voice-design wants its model and JSON", async () => {
    const body = JSON.stringify({ instruction: "a calm voice" })
    await expectRefused("/v1/voice-design", send("/v1/voice-design", body, json), 400)
    const text = { "content-type": "text/plain", model: "voice-design-1" }
    await expectRefused("/v1/voice-design", send("/v1/voice-design", body, text), 415)
    await expectRefused("/v1/voice-design", send("/v1/voice-design", "{", { ...json, model: "voice-design-1" }), 400)
  })

  it("is still there, and logged no failure of its own", async () => {
    expect((await spoken(service, sentence)).length).toBe(wav.length)
    expect(service.log()).not.toMatch(/failed|Error/)
  })
})
