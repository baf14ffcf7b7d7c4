// Recordings of every container, made by ffmpeg from a known tone and speech, and read by us; and what is no
// recording, ending in its fault.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync, writeFileSync, existsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, describe, expect, it, layer } from "@effect/vitest"
import { Effect, Fiber, Schedule, Stream } from "effect"
import { encodeWav, parseWav } from "@parley/audio/Wav"
import { speakToWav } from "@parley/speech/testing/speakToWav"
import { UploadedAudio } from "@parley/speech/upload/UploadedAudio"

const ffmpegMissing = spawnSync("ffmpeg", ["-version"], { stdio: "ignore" }).status !== 0
if (process.env["CI"] === "true" && ffmpegMissing) throw new Error("ffmpeg is missing: apt-get install ffmpeg")

const folder = mkdtempSync(join(tmpdir(), "parley-upload-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const seconds = 2.3
const tone = (hz: number, sampleRate: number, length: number, level: number): Int16Array =>
  Int16Array.from({ length: Math.round(sampleRate * length) }, (_, n) =>
    Math.round(32767 * level * Math.sin((2 * Math.PI * hz * n) / sampleRate))
  )

/** White noise, the same in every run. */
const hiss = (length: number): Int16Array => {
  let state = 99
  return Int16Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return (state >>> 18) - 8192
  })
}

const put = (name: string, bytes: Uint8Array): string => {
  const path = join(folder, name)
  writeFileSync(path, bytes)
  return path
}

const source = put("source.wav", encodeWav(tone(440, 44100, seconds, 0.4), 44100))

/** The tone in another form. */
const made = (name: string, ...args: ReadonlyArray<string>): string => {
  const path = join(folder, name)
  const run = spawnSync("ffmpeg", ["-v", "error", "-y", "-i", source, ...args, path])
  if (run.status !== 0) throw new Error(run.stderr.toString())
  return path
}

const pitchOf = (samples: Int16Array, sampleRate: number): number => {
  const rises: Array<number> = []
  for (let i = 1; i < samples.length; i++) {
    const before = samples[i - 1]!
    const after = samples[i]!
    if (before < 0 && after >= 0) rises.push(i - after / (after - before))
  }
  return ((rises.length - 1) * sampleRate) / (rises.at(-1)! - rises[0]!)
}

const gathered = Effect.fnUntraced(function* (file: string, sampleRate: number) {
  const { pcm } = yield* UploadedAudio
  const blocks = yield* Stream.runCollect(pcm(file, sampleRate))
  expect(Math.max(...blocks.map((block) => block.length))).toBeLessThanOrEqual(sampleRate)
  const all = new Int16Array(blocks.reduce((sum, block) => sum + block.length, 0))
  let at = 0
  for (const block of blocks) {
    all.set(block, at)
    at += block.length
  }
  return all
})

const forms: ReadonlyArray<readonly [string, ...ReadonlyArray<string>]> = [
  ["u8.wav", "-c:a", "pcm_u8"],
  ["s16-stereo.wav", "-ac", "2"],
  ["s24.wav", "-c:a", "pcm_s24le"],
  ["s32.wav", "-c:a", "pcm_s32le"],
  ["f32.wav", "-c:a", "pcm_f32le"],
  ["f64.wav", "-c:a", "pcm_f64le"],
  ["alaw.wav", "-c:a", "pcm_alaw", "-ar", "8000"],
  ["mulaw.wav", "-c:a", "pcm_mulaw", "-ar", "8000"],
  ["six.wav", "-af", "pan=5.1|c0=c0|c1=c0|c2=c0|c3=c0|c4=c0|c5=c0"],
  ["odd-rate.wav", "-ar", "11127"],
  ["mono.mp3", "-b:a", "128k"],
  ["stereo-vbr.mp3", "-ac", "2", "-q:a", "4"],
  ["low.mp3", "-ar", "16000", "-b:a", "32k"],
  ["mono.flac"],
  ["stereo24.flac", "-ac", "2", "-sample_fmt", "s32"],
  ["mono.opus", "-c:a", "libopus"],
  ["stereo.opus", "-c:a", "libopus", "-ac", "2", "-frame_duration", "60"],
  ["mono.oga", "-c:a", "libvorbis"],
  ["stereo.oga", "-c:a", "libvorbis", "-ac", "2"],
  ["flac.oga", "-c:a", "flac"],
  ["mono.webm", "-c:a", "libopus"],
  ["live.webm", "-c:a", "libopus", "-live", "1"],
  ["mono.m4a", "-c:a", "aac"],
  ["fast.mp4", "-c:a", "aac", "-ac", "2", "-movflags", "+faststart"],
  ["raw.aac", "-c:a", "aac"]
]

describe.skipIf(ffmpegMissing)("recordings of ffmpeg", () => {
  layer(UploadedAudio.layer({ threads: 1 }))((it) => {
    it.effect.each(forms.map(([name, ...args]) => ({ name, args })))("reads $name", ({ args, name }) =>
      Effect.gen(function* () {
        const file = made(name, ...args)
        for (const sampleRate of [16000, 24000]) {
          const samples = yield* gathered(file, sampleRate)
          expect(Math.abs(samples.length / sampleRate - seconds)).toBeLessThan(0.06)
          const middle = samples.subarray(sampleRate / 2, 1.8 * sampleRate)
          expect(Math.abs(pitchOf(middle, sampleRate) / 440 - 1)).toBeLessThan(0.01)
          const level = Math.sqrt(middle.reduce((sum, value) => sum + value * value, 0) / middle.length) / 32768
          // ffmpeg takes 3 dB off when it makes two channels of one.
          expect(level).toBeGreaterThan(0.19)
          expect(level).toBeLessThan(0.37)
        }
      })
    )

    it.effect("has every container by its bytes, whatever its name", () =>
      Effect.gen(function* () {
        const file = put("song.txt", readFileSync(made("named.flac")))
        expect((yield* gathered(file, 16000)).length).toBe(Math.ceil(seconds * 16000))
      })
    )
  })
})

/** 4 kB that are the same in every run and nothing at all. */
const noise = Uint8Array.from({ length: 4096 }, (_, n) => (n * 2654435761) >>> 13)
const text = (latin: string): Uint8Array => Buffer.from(latin, "latin1")
const wav = encodeWav(tone(300, 16000, 1.5, 0.3), 16000)
const headed = (bytes: Uint8Array, at: number, value: number): Uint8Array => {
  const copy = bytes.slice()
  copy[at] = value
  return copy
}

const refused: ReadonlyArray<readonly [string, Uint8Array, string]> = [
  ["nothing", new Uint8Array(0), "NotAudio"],
  ["text", text("this is no recording, only words about one"), "NotAudio"],
  ["a page", text("<html><body>404</body></html>"), "NotAudio"],
  ["noise", noise, "NotAudio"],
  ["one byte", Uint8Array.of(0xff), "NotAudio"],
  ["raw samples", Buffer.from(tone(300, 16000, 0.5, 0.3).buffer), "NotAudio"],
  ["AIFF", Buffer.concat([text("FORM\0\0\0\0AIFFCOMM"), noise]), "NotAudio"],
  ["AMR", Buffer.concat([text("#!AMR\n"), noise]), "NotAudio"],
  ["a WAV header alone", wav.subarray(0, 44), "Damaged"],
  ["a cut WAV header", wav.subarray(0, 20), "Damaged"],
  ["WAV with MP3 inside", headed(wav, 20, 85), "Unsupported"],
  ["WAV without channels", headed(wav, 22, 0), "Unsupported"],
  ["an ID3 tag alone", text("ID3\u0004\0\0\0\0\0\u0010"), "Damaged"],
  ["an ID3 tag that lies about its size", text("ID3\u0004\0\0\u007f\u007f\u007f\u007fabc"), "Damaged"],
  ["an ID3 tag before noise", Buffer.concat([text("ID3\u0004\0\0\0\0\0\0"), noise]), "Damaged"],
  ["a FLAC marker before noise", Buffer.concat([text("fLaC"), noise]), "Damaged"],
  ["a FLAC marker alone", text("fLaC"), "Damaged"],
  ["an Ogg marker before noise", Buffer.concat([text("OggS"), noise]), "Unsupported"],
  ["WebM before noise", Buffer.concat([Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3, 0x80), noise]), "Damaged"],
  ["WebM of zeros", Buffer.concat([Uint8Array.of(0x1a, 0x45, 0xdf, 0xa3), new Uint8Array(4096)]), "Damaged"],
  ["MP4 of noise", Buffer.concat([text("\0\0\0\u0018ftypM4A "), noise]), ffmpegMissing ? "Unsupported" : "Damaged"]
]

layer(UploadedAudio.layer({ threads: 1, ffmpeg: "ffmpeg" }))((it) => {
  it.effect.each(refused.map(([name, bytes, reason]) => ({ name, bytes, reason })))("refuses $name", (bad) =>
    Effect.gen(function* () {
      const { examine, pcm, toWav } = yield* UploadedAudio
      const file = put("bad", bad.bytes)
      const target = join(folder, "bad.wav")
      expect((yield* Effect.flip(Stream.runDrain(pcm(file, 16000)))).reason).toBe(bad.reason)
      expect((yield* Effect.flip(toWav(file, target))).reason).toBe(bad.reason)
      expect(existsSync(target)).toBe(false)
      expect((yield* Effect.flip(examine(file))).reason).toBe(bad.reason)
      // The thread is none the worse for it.
      expect((yield* gathered(put("good.wav", wav), 16000)).length).toBe(24000)
    })
  )

  it.effect("gives what can be heard of a torn recording", () =>
    Effect.gen(function* () {
      expect((yield* gathered(put("cut.wav", wav.subarray(0, 44 + 16001)), 16000)).length).toBe(8000)
      if (ffmpegMissing) return
      for (const name of ["torn.mp3", "torn.flac", "torn.opus", "torn.oga", "torn.webm"]) {
        const whole = readFileSync(made(name, ...(name === "torn.oga" ? ["-c:a", "libvorbis"] : [])))
        const torn = whole.subarray(0, Math.floor(whole.length / 2))
        const holed = Buffer.from(whole)
        holed.fill(0x55, Math.floor(whole.length / 2), Math.floor(whole.length / 2) + 300)
        const half = yield* gathered(put(name, torn), 16000)
        expect(half.length / 16000).toBeGreaterThan(0.3)
        expect(half.length / 16000).toBeLessThan(seconds)
        const rest = yield* Effect.exit(gathered(put(name, holed), 16000))
        if (rest._tag === "Success") expect(rest.value.length / 16000).toBeLessThan(seconds + 0.2)
      }
    })
  )

  it.effect(
    "ends in a fault or in sound on a hundred damaged files of each kind, and in nothing else",
    () =>
      Effect.gen(function* () {
        if (ffmpegMissing) return
        let seed = 7
        const random = (below: number): number => {
          seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
          return seed % below
        }
        const { pcm } = yield* UploadedAudio
        for (const name of ["fuzz.mp3", "fuzz.flac", "fuzz.opus", "fuzz.oga", "fuzz.webm", "fuzz.wav"]) {
          const args = ["-t", "0.4", ...(name === "fuzz.oga" ? ["-c:a", "libvorbis"] : [])]
          const whole = readFileSync(made(name, ...args))
          for (let round = 0; round < 100; round++) {
            const bytes = Buffer.from(whole)
            for (let hit = 0; hit < 1 + random(20); hit++) bytes[random(round < 50 ? 200 : bytes.length)] = random(256)
            const exit = yield* Effect.exit(Stream.runDrain(pcm(put(name, bytes), 16000)))
            if (exit._tag === "Failure") expect(JSON.stringify(exit.cause)).toContain("AudioFault")
          }
        }
      }),
    30_000
  )

  it.effect("stores a recording as WAV at 24 kHz with its length", () =>
    Effect.gen(function* () {
      const { toWav } = yield* UploadedAudio
      const target = join(folder, "stored.wav")
      const { durationMs } = yield* toWav(source, target)
      expect(durationMs).toBeCloseTo(1000 * seconds, 0)
      const stored = parseWav(readFileSync(target))
      expect(stored.sampleRate).toBe(24000)
      expect(stored.samples.length).toBe(Math.round(24000 * seconds))
      expect(Math.abs(pitchOf(stored.samples, 24000) / 440 - 1)).toBeLessThan(0.01)
    })
  )

  const unfit: ReadonlyArray<readonly [string, Int16Array, string]> = [
    ["TooShort", tone(150, 16000, 0.9, 0.3), "TooShort"],
    ["Silent", new Int16Array(32000), "Silent"],
    ["Clipped", tone(150, 16000, 2, 0.9).map((value) => Math.max(-32768, Math.min(32767, 3 * value))), "Clipped"],
    ["Unvoiced", hiss(32000), "Unvoiced"]
  ]
  it.effect.each(unfit.map(([name, samples, reason]) => ({ name, samples, reason })))(
    "does not learn a voice: $name",
    (bad) =>
      Effect.gen(function* () {
        const { examine } = yield* UploadedAudio
        expect((yield* Effect.flip(examine(put("unfit.wav", encodeWav(bad.samples, 16000))))).reason).toBe(bad.reason)
      })
  )
})

layer(UploadedAudio.layer({ threads: 1, atOnce: 1 }))((it) => {
  it.effect("examines a voice: length, pitch, level, profile", () =>
    Effect.gen(function* () {
      const { examine } = yield* UploadedAudio
      const words = "Please send the documents before Friday morning, and let me know whether the meeting can be moved."
      const found: Array<number> = []
      for (const voice of ["rms", "slt"]) {
        const samples = speakToWav(words, voice)
        const heard = yield* examine(put("voice.wav", encodeWav(samples, 16000)))
        expect(heard.durationMs).toBeCloseTo(samples.length / 16, 0)
        expect(heard.voicedMs).toBeGreaterThan(0.5 * heard.durationMs)
        expect(heard.clipped).toBe(0)
        expect(heard.profile.colour.every((gain) => Math.abs(gain) <= 10)).toBe(true)
        expect(heard.profile.pace).toBeGreaterThan(0.7)
        found.push(heard.profile.pitchHz)
        if (ffmpegMissing) continue
        // The codec of a recording does not change the speaker.
        const path = join(folder, "voice.mp3")
        spawnSync("ffmpeg", ["-v", "error", "-y", "-i", join(folder, "voice.wav"), "-b:a", "64k", path])
        const coded = yield* examine(path)
        expect(Math.abs(coded.profile.pitchHz / heard.profile.pitchHz - 1)).toBeLessThan(0.03)
      }
      expect(found[0]).toBeGreaterThan(85)
      expect(found[0]).toBeLessThan(120)
      expect(found[1]).toBeGreaterThan(150)
      expect(found[1]).toBeLessThan(200)
    })
  )
})

describe("bounds", () => {
  it.live("takes uploads in turn, and loses no turn to one that gave up waiting", () =>
    Effect.gen(function* () {
      const { pcm } = yield* UploadedAudio
      const file = put("turn.wav", wav)
      const held = yield* Effect.forkChild(Stream.runForEach(pcm(file, 16000), () => Effect.never))
      yield* Effect.sleep(100)
      const waiting = yield* Effect.forkChild(Stream.runDrain(pcm(file, 16000)))
      yield* Effect.sleep(50)
      yield* Fiber.interrupt(waiting)
      const others = yield* Effect.forkChild(
        Effect.all(
          Array.from({ length: 5 }, () => gathered(file, 16000)),
          { concurrency: "unbounded" }
        )
      )
      yield* Fiber.interrupt(held)
      expect((yield* Fiber.join(others)).map((samples) => samples.length)).toEqual(
        Array.from({ length: 5 }, () => 24000)
      )
    }).pipe(Effect.provide(UploadedAudio.layer({ threads: 1, atOnce: 1 })))
  )

  it.effect("refuses what is longer than it may be", () =>
    Effect.gen(function* () {
      const { pcm } = yield* UploadedAudio
      expect((yield* Effect.flip(Stream.runDrain(pcm(put("long.wav", wav), 16000)))).reason).toBe("TooLong")
    }).pipe(Effect.provide(UploadedAudio.layer({ threads: 1, mostMs: 1400 })))
  )

  it.effect("says what is missing when there is no ffmpeg", () =>
    Effect.gen(function* () {
      const { pcm } = yield* UploadedAudio
      const file = put("some.m4a", Buffer.concat([text("\0\0\0\u0018ftypM4A "), noise]))
      const fault = yield* Effect.flip(Stream.runDrain(pcm(file, 16000)))
      expect(fault.reason).toBe("Unsupported")
      expect(fault.message).toContain("ffmpeg")
    }).pipe(Effect.provide(UploadedAudio.layer({ threads: 1, ffmpeg: join(folder, "no-such-program") })))
  )

  it.effect("decodes no faster than it is asked: half an hour never lies in memory", () =>
    Effect.gen(function* () {
      const { pcm } = yield* UploadedAudio
      const minutes = 30
      const minute = encodeWav(tone(200, 16000, 60, 0.2), 16000)
      const file = put("hour.wav", minute.subarray(0, 44))
      // Sizes of a stream: to the end of the file.
      const bytes = readFileSync(file)
      bytes.fill(0xff, 40, 44)
      writeFileSync(file, bytes)
      for (let i = 0; i < minutes; i++) writeFileSync(file, minute.subarray(44), { flag: "a" })
      const before = process.memoryUsage().rss
      let most = 0
      let samples = 0
      yield* Stream.runForEach(pcm(file, 8000), (block) =>
        Effect.sync(() => {
          samples += block.length
          most = Math.max(most, process.memoryUsage().rss)
        })
      )
      expect(samples).toBe(minutes * 60 * 8000)
      // All of it would be 58 MB of file, and 29 MB of blocks.
      expect((most - before) / 2 ** 20).toBeLessThan(120)
      rmSync(file)
    }).pipe(Effect.provide(UploadedAudio.layer({ threads: 1 })))
  )

  it.live("stops at once, and leaves no child and no file open", () =>
    Effect.gen(function* () {
      const { pcm } = yield* UploadedAudio
      const files = [put("stop.wav", encodeWav(tone(200, 16000, 30, 0.2), 16000))]
      if (!ffmpegMissing) files.push(made("stop.m4a", "-af", "aloop=loop=30:size=100000", "-c:a", "aac"))
      for (const file of files) {
        const fiber = yield* Effect.forkChild(Stream.runForEach(pcm(file, 16000), () => Effect.never))
        yield* Effect.sleep(200)
        yield* Fiber.interrupt(fiber)
      }
      const children = Effect.sync(() => process.getActiveResourcesInfo().includes("ProcessWrap"))
      expect(
        yield* Effect.repeat(children, { while: (is) => is, times: 50, schedule: Schedule.spaced(20) })
      ).toBeDefined()
      expect(yield* children).toBe(false)
      expect((yield* gathered(put("after.wav", wav), 16000)).length).toBe(24000)
    }).pipe(Effect.provide(UploadedAudio.layer({ threads: 1 })))
  )

  it.live("survives a thread that dies or hangs", () =>
    Effect.gen(function* () {
      const { pcm } = yield* UploadedAudio
      for (const name of ["dies", "hangs"]) {
        expect((yield* Effect.flip(Stream.runDrain(pcm(name, 16000)))).reason).toBe("Damaged")
      }
      const blocks = yield* Effect.retry(Stream.runCollect(pcm("lives", 16000)), {
        times: 20,
        schedule: Schedule.spaced(100)
      })
      expect(blocks).toHaveLength(1)
    }).pipe(
      Effect.provide(
        UploadedAudio.layer({ threads: 1, blockMs: 1500, program: new URL("./dyingThread.ts", import.meta.url) })
      )
    )
  )
})
