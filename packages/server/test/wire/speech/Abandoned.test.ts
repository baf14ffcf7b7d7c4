// Callers who go away, stop reading, stop sending, or are too many: synthesis waits for slow readers and ends with gone
// ones, permits come back, and nothing of all that is left in the process or on the disk.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { foreignKey, elevenlabs, openrouter, long, operate, post, reference, spoken } from "./SpeechClient.ts"
import { openDescriptors } from "./descriptors.ts"
import { type LiveSocket, liveSocket } from "./LiveSocket.ts"
import { type RawAnswer, rawRequest } from "./RawHttp.ts"

/** More than an hour of sound, 400 MB as samples: more than any buffer on the way holds. */
const endless = `${long} `.repeat(Math.floor(90_000 / long.length))
const mostHeldMiB = 200

describe.skipIf(process.platform !== "linux")(
  "abandoned speech requests (looks into /proc)",
  { timeout: 90_000 },
  () => {
    let service: RunningService
    let temporary: string
    /** Uploads that stop in the middle: begun at once, since it takes 20 s until they are given up. */
    let stuck: ReadonlyArray<Promise<RawAnswer>>
    let audio: Uint8Array<ArrayBuffer>

    beforeAll(async () => {
      temporary = mkdtempSync(join(tmpdir(), "parley-abandoned-"))
      service = await startService({ PARLEY_TRIAL_BALANCE: "100000", TMPDIR: temporary })
      const form = '--b\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\n\r\nRIFF'
      stuck = [
        rawRequest(
          service,
          "/v1/tts",
          headers({ "content-type": "application/json", "content-length": "400" }),
          '{"text":'
        ),
        rawRequest(
          service,
          "/v1/asr",
          headers({ "content-type": "multipart/form-data; boundary=b", "content-length": "99999" }),
          form
        ),
        rawRequest(
          service,
          "/v1/asr",
          headers({ "content-type": "application/msgpack", "content-length": "99999" }),
          "\u0081"
        )
      ].map(({ answer }) => answer)
      audio = (await reference(service)).audio
    })
    afterAll(async () => {
      await service.stop()
      rmSync(temporary, { recursive: true, force: true })
    })

    const headers = (more: Record<string, string> = {}) => ({ authorization: `Bearer ${service.key}`, ...more })
    const statusOf = (name: string): number =>
      Number(
        new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${service.process.pid}/status`, "utf8"))?.[1]
      )
    const residentMiB = () => statusOf("VmRSS") / 1024
    /** Hundredths of a second of all threads. */
    const cpuTicks = (): number => {
      const fields = readFileSync(`/proc/${service.process.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []
      return Number(fields[11]) + Number(fields[12])
    }
    const share = async () => {
      const before = cpuTicks()
      await new Promise((rest) => setTimeout(rest, 300))
      return cpuTicks() - before
    }

    const filesLeft = () => readdirSync(temporary)

    /** Does next to nothing for a while: a synthesis that runs takes a whole core. */
    const idle = async (what: string): Promise<void> => {
      await expect.poll(share, { timeout: 30_000, interval: 50, message: `the service rests: ${what}` }).toBeLessThan(6)
    }
    /** On connections that are not kept for later: those would be counted with what abandoned callers leave. */
    const fiveAtOnce = async () => {
      const hello = { text: "Hello.", format: "pcm" }
      const all = await Promise.all(
        Array.from({ length: 5 }, () => post(service, "/v1/tts", hello, { connection: "close" }))
      )
      await Promise.all(all.map((answer) => answer.arrayBuffer()))
      return all.map(({ status }) => status)
    }

    const seatsAreFree = async () => {
      await expect.poll(fiveAtOnce, { timeout: 20_000 }).toEqual([200, 200, 200, 200, 200])
    }

    const apis = [
      ["POST /v1/tts", () => post(service, "/v1/tts", { text: endless, format: "pcm" })],
      [
        "POST /v1/tts/stream/with-timestamp",
        () => post(service, "/v1/tts/stream/with-timestamp", { text: endless, format: "pcm" })
      ],
      [
        "the ElevenLabs-compatible API",
        () =>
          fetch(`${elevenlabs(service.url)}/v1/text-to-speech/default/stream?output_format=pcm_44100`, {
            method: "POST",
            headers: { "xi-api-key": service.key },
            body: JSON.stringify({ text: endless })
          })
      ],
      [
        "the OpenRouter-compatible API",
        () =>
          fetch(`${openrouter(service.url)}/audio/speech`, {
            method: "POST",
            headers: headers(),
            body: JSON.stringify({ model: "vendor-audio/s2.1-pro", input: endless, voice: "" })
          })
      ]
    ] as const

    it.for(apis)("%s waits for a slow reader and ends with one that is gone", async ([, ask]) => {
      const answer = await ask()
      const reader = answer.body!.getReader()
      onTestFinished(() => reader.cancel())
      await reader.read()
      await idle("nobody reads")
      const before = residentMiB()
      for (let bytes = 0; bytes < 4 * 2 ** 20;) {
        const { done, value } = await reader.read()
        expect(done, `the sound ends at ${bytes}`).toBe(false)
        bytes += value?.length ?? 0
      }
      await idle("nobody reads any more")
      // What waits to be read is bounded by chunks, not by the text.
      expect(residentMiB() - before).toBeLessThan(mostHeldMiB)
      await reader.cancel()
      await idle("the reader is gone")
      await seatsAreFree()
    })

    it.for(["/v1/tts/live", "/v1/tts/live/with-timestamp"])(
      "wss %s waits for a slow reader and ends with one that is gone",
      async (path) => {
        const { closed, events, send, ws } = await liveSocket(service, path)
        onTestFinished(() => ws.terminate())
        send({ event: "start", request: { text: endless, format: "pcm" } })
        await expect.poll(() => events.length, { timeout: 20_000 }).toBeGreaterThan(0)
        ws.pause()
        await idle("nobody reads")
        const before = events.length
        ws.resume()
        await expect.poll(() => events.length, { timeout: 20_000 }).toBeGreaterThan(before + 20)
        expect(events.some(({ event }) => event === "finish")).toBe(false)
        ws.terminate()
        await closed
        await idle("the reader is gone")
        await seatsAreFree()
      }
    )

    const leaveEarly = async () => {
      const gone = new AbortController()
      const begun = fetch(`${service.url}/v1/tts`, {
        method: "POST",
        headers: headers({ "content-type": "application/json" }),
        body: JSON.stringify({ text: endless, format: "opus" }),
        signal: gone.signal
      })
      await (await begun).body?.getReader().read()
      gone.abort()
      const live = await liveSocket(service)
      live.send({ event: "start", request: { text: endless, format: "mp3" } })
      live.send({ event: "flush" })
      await expect.poll(() => live.events.length, { timeout: 20_000 }).toBeGreaterThan(0)
      live.ws.terminate()
      await live.closed
      // With recordings that lie in a temporary folder, and an upload that is cut.
      const sent = [{ audio: Buffer.from(audio).toString("base64"), text: long }]
      const cloned = await post(service, "/v1/tts", { text: endless, format: "pcm", references: sent })
      await cloned.body?.cancel()
      const type = { "content-type": "multipart/form-data; boundary=b", "content-length": "99999" }
      const upload = rawRequest(
        service,
        "/v1/asr",
        headers(type),
        '--b\r\nContent-Disposition: form-data; name="audio"; filename="a"\r\n\r\nRIFF'
      )
      await new Promise((rest) => setTimeout(rest, 50))
      upload.socket.destroy()
      await seatsAreFree()
    }

    it("frees everything of callers who go in the middle, however often", async () => {
      for (let i = 0; i < 2; i++) await leaveEarly()
      await idle("before counting")
      const [files, memory] = [openDescriptors(service), residentMiB()]
      for (let i = 0; i < 6; i++) await leaveEarly()
      await idle("after all of them")
      expect(openDescriptors(service)).toBeLessThanOrEqual(files + 4)
      expect(residentMiB() - memory).toBeLessThan(120)
    })

    it("answers 503 with Retry-After when too much is spoken at once, and recovers", async () => {
      const key = await foreignKey(service, "crowd")
      await operate(service, "credit", "concurrency", "--workspace", "crowd", "1000")
      const own = { authorization: `Bearer ${key}` }
      const crowd: Array<LiveSocket> = []
      const begin = async () => {
        const live = await liveSocket(service, undefined, own)
        live.send({ event: "start", request: { format: "pcm", sample_rate: 8000 } })
        crowd.push(live)
      }
      const speak = async () => {
        const answer = await post(service, "/v1/tts", { text: "Hello.", format: "pcm" }, own)
        await answer.arrayBuffer()
        return `${answer.status} ${answer.headers.get("retry-after")}`
      }
      for (let i = 0; i < 128; i++) await begin()
      await expect.poll(speak, { timeout: 20_000 }).toMatch(/^503 \d+$/)
      for (const { ws } of crowd) ws.terminate()
      await Promise.all(crowd.map(({ closed }) => closed))
      await expect.poll(speak, { timeout: 20_000 }).toBe("200 null")
    })

    it("gives up uploads that stop in the middle, leaves no file behind, and goes on", async () => {
      for (const answer of stuck) expect(await answer).toMatchObject({ status: 408, type: "application/json" })
      await expect.poll(filesLeft, { timeout: 20_000 }).toEqual([])
      expect((await spoken(service, "Hello there.")).length).toBeGreaterThan(5_000)
      expect(service.log()).not.toMatch(/failed|Error/)
    })
  }
)
