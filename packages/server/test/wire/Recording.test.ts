// Recordings from outside: calls by rtc-node to the running service, their tracks fetched by address and measured by
// ffmpeg. What is switched off leaves nothing behind; what kill -9 cut is still a file.
import { askDatabase } from "@parley/workspace/testing/askDatabase"
import { spawnSync } from "node:child_process"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { joinCall, type RtcCaller, until } from "../../src/testing/RtcCaller.ts"
import { type RunningService, startService } from "../../src/testing/RunningService.ts"

const ffmpegMissing = spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status !== 0
if (process.env["CI"] === "true" && ffmpegMissing) throw new Error("ffmpeg is missing: apt-get install ffmpeg")

interface Ticket {
  readonly session_id: string
  readonly rtc_url: string
  readonly token: string
}

interface Track {
  readonly role: string
  readonly status: string
  readonly url: string
  readonly expires_at: string
  readonly duration_ms: number
  readonly started_at: string
  readonly ended_at: string
}

interface Recording {
  readonly status: string
  readonly error_code: string | null
  readonly tracks: ReadonlyArray<Track>
}

const config = {
  prompt: { system_prompt: "You are a receptionist.", first_message_mode: "fixed", first_message: "Hello there." }
}

const open = (service: RunningService, agent_id: string, more: Record<string, unknown> = {}): Promise<Ticket> =>
  service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id, ...more })

const recordingUrl = (service: RunningService, { session_id }: Ticket): string =>
  `${service.url}/v1/agent/sessions/${session_id}/recording`

const askRecording = (service: RunningService, ticket: Ticket): Promise<Response> =>
  fetch(recordingUrl(service, ticket), { headers: { authorization: `Bearer ${service.key}` } })

/** Once its tracks are settled. */
const settled = async (service: RunningService, ticket: Ticket): Promise<Recording> => {
  const limit = performance.now() + 20_000
  for (;;) {
    const answer = await askRecording(service, ticket)
    if (answer.status === 200) {
      const recording = (await answer.json()) as Recording
      if (recording.status !== "processing") return recording
    }
    if (performance.now() > limit) throw new Error(`the recording is not settled: ${answer.status}`)
    await new Promise((tick) => setTimeout(tick, 100))
  }
}

const track = ({ tracks }: Recording, role: string): Track => {
  const found = tracks.find((one) => one.role === role)
  if (found === undefined) throw new Error(`no track of the ${role}`)
  return found
}

const fetchBytes = async (url: string): Promise<Buffer> => {
  const answer = await fetch(url)
  expect(answer.status).toBe(200)
  return Buffer.from(await answer.arrayBuffer())
}

/** Mono 16 kHz, decoded by ffmpeg; throws when it has anything to complain of. */
const decoded = (file: Buffer): Int16Array => {
  const args = ["-v", "warning", "-xerror", "-i", "-", "-f", "s16le", "-ac", "1", "-ar", "16000", "-"]
  const run = spawnSync("ffmpeg", args, { input: file, maxBuffer: 2 ** 28 })
  if (run.status !== 0 || run.stderr.length > 0) throw new Error(`ffmpeg: ${run.stderr.toString()}`)
  return new Int16Array(run.stdout.buffer, run.stdout.byteOffset, run.stdout.length >> 1)
}

const probed = (file: Buffer) => {
  const args = ["-v", "error", "-show_entries", "stream=codec_name,channels", "-of", "json", "-"]
  const { streams } = JSON.parse(spawnSync("ffprobe", args, { input: file }).stdout.toString()) as {
    readonly streams: ReadonlyArray<{ readonly codec_name: string; readonly channels: number }>
  }
  return streams
}

/** Milliseconds of audible sound. */
const audibleMs = (samples: Int16Array): number => {
  let loud = 0
  for (let at = 0; at + 160 <= samples.length; at += 160) {
    if (samples.subarray(at, at + 160).some((sample) => Math.abs(sample) > 500)) loud += 10
  }
  return loud
}

const firstAudibleMs = (samples: Int16Array): number => samples.findIndex((sample) => Math.abs(sample) > 500) / 16

const files = (service: RunningService): ReadonlyArray<string> => {
  const folder = join(service.data, "blobs", "recordings")
  return existsSync(folder) ? readdirSync(folder) : []
}

const greeted = async (caller: RtcCaller): Promise<void> => {
  await until("the agent greets", () => caller.heard.length > 30)
  await until("the greeting is over", () => caller.state() === "listening")
}

describe.skipIf(ffmpegMissing)("a recorded call (needs ffmpeg)", { timeout: 90_000 }, () => {
  let service: RunningService
  let agent: string
  const folders: Array<string> = []
  beforeAll(async () => {
    service = await startService({ PARLEY_RECORDINGS_DAYS: "30" })
    agent = await service.agent(config)
  })
  afterAll(async () => {
    await service.stop()
    for (const folder of folders) rmSync(folder, { recursive: true, force: true })
  })

  it("is two tracks on one clock, fetched by addresses that end", async () => {
    const ticket = await open(service, agent, { record_audio: true })
    expect((await askRecording(service, ticket)).status).toBe(404)
    const joined = performance.now()
    const caller = await joinCall(ticket)
    await greeted(caller)
    const live = (await (await askRecording(service, ticket)).json()) as Recording
    expect(live.status).toBe("processing")
    expect(live.tracks.map(({ role, status, url }) => ({ role, status, url }))).toEqual([
      { role: "agent", status: "active", url: null },
      { role: "user", status: "active", url: null }
    ])
    const inCall = performance.now()
    await caller.say("I would like to book an appointment")
    await new Promise((tick) => setTimeout(tick, 500))
    const atLeast = performance.now() - inCall
    await caller.leave()

    const recording = await settled(service, ticket)
    const atMost = performance.now() - joined
    expect(recording).toMatchObject({ status: "complete", error: null, error_code: null, error_message: null })
    const [user, agentTrack] = [track(recording, "user"), track(recording, "agent")]
    expect(Math.abs(user.duration_ms - agentTrack.duration_ms)).toBeLessThanOrEqual(40)
    expect(user.started_at).toBe(agentTrack.started_at)
    const heard = await fetchBytes(user.url)
    const played = await fetchBytes(agentTrack.url)
    for (const [bytes, { duration_ms }] of [
      [heard, user],
      [played, agentTrack]
    ] as const) {
      expect(probed(bytes)).toEqual([{ codec_name: "opus", channels: 1 }])
      expect(Math.abs(decoded(bytes).length / 16 - duration_ms)).toBeLessThanOrEqual(21)
      expect(duration_ms).toBeGreaterThan(atLeast - 40)
      expect(duration_ms).toBeLessThan(atMost + 40)
    }
    expect(audibleMs(decoded(heard))).toBeGreaterThan(1_000)
    expect(audibleMs(decoded(played))).toBeGreaterThan(300)
    // The greeting comes before the answer to it.
    expect(firstAudibleMs(decoded(played))).toBeLessThan(firstAudibleMs(decoded(heard)))

    const answer = await fetch(user.url, { headers: { range: "bytes=4-7" } })
    expect(answer.status).toBe(206)
    expect(answer.headers.get("content-range")).toBe(`bytes 4-7/${heard.length}`)
    expect(answer.headers.get("content-type")).toBe("audio/ogg")
    expect(answer.headers.get("cache-control")).toBe("private, no-store")
    expect(Buffer.from(await answer.arrayBuffer())).toEqual(heard.subarray(4, 8))
    const head = await fetch(user.url, { method: "HEAD" })
    expect([head.status, head.headers.get("content-length")]).toEqual([200, String(heard.length)])
    const beyond = await fetch(user.url, { headers: { range: `bytes=${heard.length}-` } })
    expect(beyond.status).toBe(416)
    expect(beyond.headers.get("content-range")).toBe(`bytes */${heard.length}`)

    const tampered = user.url.replace(/.(?=\.ogg$)/, (last) => (last === "A" ? "B" : "A"))
    for (const url of [tampered, user.url.replace(/[^/]+$/, "x.ogg"), `${user.url}x`]) {
      const refused = await fetch(url)
      expect(refused.status).toBe(403)
      expect(await refused.json()).toMatchObject({ status: 403, reason: null })
    }
    for (const { url } of recording.tracks) {
      const name = /[^/]+$/.exec(url)?.[0] ?? "?"
      expect(service.log()).not.toContain(name)
      expect(await fetch(`${service.url}/metrics`).then((metrics) => metrics.text())).not.toContain(name)
    }
  })

  it("leaves no trace when it is not wanted", async () => {
    const before = files(service).length
    const ticket = await open(service, agent, { record_audio: false })
    const caller = await joinCall(ticket)
    await greeted(caller)
    await caller.leave()
    const preview = await service.api<Ticket>("POST", `/v1/agent/agents/${agent}/preview-sessions`)
    const other = await joinCall(preview)
    await greeted(other)
    await other.leave()
    expect((await askRecording(service, ticket)).status).toBe(404)
    expect((await askRecording(service, preview)).status).toBe(404)
    expect(files(service).length).toBe(before)
    const ids = JSON.stringify([ticket.session_id, preview.session_id])
    const rows = await askDatabase(
      service.data,
      "SELECT id FROM recording_tracks WHERE session_id IN (SELECT jsonb_array_elements_text($1::jsonb))",
      [ids]
    )
    expect(rows).toEqual([])
  })

  // With services of their own, at the same time.
  it.concurrent("is a file after kill -9, settled when the service is back", async () => {
    const data = mkdtempSync(join(tmpdir(), "parley-recorded-"))
    folders.push(data)
    const killed = await startService({ PARLEY_DATA: data })
    const ticket = await open(killed, await killed.agent(config), { record_audio: true })
    const caller = await joinCall(ticket)
    await greeted(caller)
    const sounding = performance.now()
    await new Promise((tick) => setTimeout(tick, 4_000))
    const kept = performance.now() - sounding
    await killed.kill()
    for (const name of files(killed)) {
      // Playable as it lies there, without the repair.
      const bytes = readFileSync(join(data, "blobs", "recordings", name))
      expect(probed(bytes)).toEqual([{ codec_name: "opus", channels: 1 }])
    }
    const again = await startService({ PARLEY_DATA: data })
    try {
      const detail = await again.api<{ end_reason: string }>("GET", `/v1/agent/sessions/${ticket.session_id}`)
      expect(detail.end_reason).toBe("internal_error")
      const answer = await askRecording(again, ticket)
      const recording = (await answer.json()) as Recording
      expect(recording.status).toBe("complete")
      for (const { duration_ms, url } of recording.tracks) {
        expect(Math.abs(decoded(await fetchBytes(url)).length / 16 - duration_ms)).toBeLessThanOrEqual(21)
        // About the last second is lost, and more on a machine that is busy.
        expect(duration_ms).toBeGreaterThan(kept - 2_500)
      }
      expect(audibleMs(decoded(await fetchBytes(track(recording, "agent").url)))).toBeGreaterThan(300)
    } finally {
      await caller.leave()
      await again.stop()
    }
  })

  it.concurrent("is complete when the service is stopped in the middle, and is kept as long as is set", async () => {
    const data = mkdtempSync(join(tmpdir(), "parley-recorded-"))
    folders.push(data)
    const stopped = await startService({ PARLEY_DATA: data })
    const ticket = await open(stopped, await stopped.agent(config), { record_audio: true })
    const caller = await joinCall(ticket)
    await greeted(caller)
    await stopped.stop()
    await caller.leave()
    // Settled before the database went: a page of the end is there, not one that was made later.
    const sizes = files(stopped).map((name) => readFileSync(join(data, "blobs", "recordings", name)).length)
    const again = await startService({ PARLEY_DATA: data })
    try {
      const recording = (await (await askRecording(again, ticket)).json()) as Recording
      expect(recording).toMatchObject({ status: "complete", error_code: null })
      const bytes = await Promise.all(recording.tracks.map(({ url }) => fetchBytes(url)))
      expect(bytes.map(({ length }) => length).sort()).toEqual(sizes.sort())
      for (const file of bytes) decoded(file)
      await askDatabase(data, "UPDATE recording_tracks SET ended_at = ended_at - interval '2 days'")
    } finally {
      await again.stop()
    }
    // And is removed when its days are over.
    const later = await startService({ PARLEY_DATA: data, PARLEY_RECORDINGS_DAYS: "1" })
    try {
      const limit = performance.now() + 20_000
      while ((await askRecording(later, ticket)).status === 200 && performance.now() < limit) {
        await new Promise((tick) => setTimeout(tick, 50))
      }
      expect((await askRecording(later, ticket)).status).toBe(404)
      expect(files(later)).toEqual([])
    } finally {
      await later.stop()
    }
  })
})
