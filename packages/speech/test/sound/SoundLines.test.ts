// Sound lines over real threads: bytes per format, volume that never clips, levelling, limits, and threads that die.
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Scope } from "effect"
import { parseWav } from "@parley/audio/Wav"
import { dbfs, peak } from "@parley/audio/Level"
import { rms } from "@parley/audio/testing/rms"
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import { SoundLines } from "@parley/speech/sound/SoundLines"
import type { SoundLine } from "@parley/speech/sound/SoundLines"

const tone = (hz: number, sampleRate: number, seconds: number, level: number): Int16Array =>
  Int16Array.from({ length: Math.round(sampleRate * seconds) }, (_, n) =>
    Math.round(32767 * level * Math.sin((2 * Math.PI * hz * n) / sampleRate))
  )

const all = Effect.fnUntraced(function* (line: SoundLine, samples: Int16Array, sampleRate: number) {
  const written = yield* line.write(samples, sampleRate)
  const rest = yield* line.finish
  return Buffer.concat([written, rest])
})

const wav24: OutputFormat = { codec: "wav", sampleRate: 24000 }
const dying = new URL("./dyingThread.ts", import.meta.url)

describe("SoundLines", () => {
  it.live.each<OutputFormat>([
    wav24,
    { codec: "pcm", sampleRate: 8000 },
    { codec: "mp3", sampleRate: 44100, kbps: 128 },
    { codec: "opus", sampleRate: 48000, bitsPerSecond: undefined }
  ])("writes %o the same however the caller cuts", (format) =>
    Effect.gen(function* () {
      const lines = yield* SoundLines
      const samples = tone(300, 16000, 1.23, 0.3)
      const once = yield* Effect.scoped(
        Effect.gen(function* () {
          const line = yield* lines.open({ format, volumeDb: 3, level: true })
          const bytes = yield* all(line, samples, 16000)
          expect(line.positionMs()).toBeCloseTo(1230, 0)
          return bytes
        })
      )
      const cut = yield* Effect.scoped(
        Effect.gen(function* () {
          const line = yield* lines.open({ format, volumeDb: 3, level: true })
          const parts: Array<Uint8Array> = []
          for (let at = 0; at < samples.length; at += 777) {
            parts.push(yield* line.write(samples.subarray(at, at + 777), 16000))
          }
          parts.push(yield* line.finish)
          return Buffer.concat(parts)
        })
      )
      // Serial numbers of Ogg differ from file to file.
      if (format.codec === "opus") expect(cut.length).toBe(once.length)
      else expect(cut.equals(once)).toBe(true)
      expect(once.length).toBeGreaterThan(2000)
    }).pipe(Effect.provide(SoundLines.layer({ threads: 1 })))
  )

  it.live("changes the volume, and bends peaks instead of cutting them", () =>
    Effect.gen(function* () {
      const lines = yield* SoundLines
      const at = (volumeDb: number, level: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            const line = yield* lines.open({ format: wav24, volumeDb, level: false })
            return parseWav(yield* all(line, tone(300, 24000, 0.5, level), 24000)).samples
          })
        )
      const plain = dbfs(rms(yield* at(0, 0.1)))
      expect(dbfs(rms(yield* at(6, 0.1))) - plain).toBeCloseTo(6, 1)
      expect(dbfs(rms(yield* at(-20, 0.1))) - plain).toBeCloseTo(-20, 1)
      const loud = yield* at(20, 0.5)
      expect(peak(loud)).toBeGreaterThan(0.95)
      // Bent peaks keep their sign; a sum that ran over would turn it.
      const quiet = yield* at(0, 0.1)
      expect(loud.every((value, n) => value * quiet[n]! >= 0)).toBe(true)
    }).pipe(Effect.provide(SoundLines.layer({ threads: 1 })))
  )

  it.live("brings quiet and loud voices to one loudness", () =>
    Effect.gen(function* () {
      const lines = yield* SoundLines
      for (const level of [0.06, 0.4]) {
        const line = yield* lines.open({ format: wav24, volumeDb: 0, level: true })
        const { samples } = parseWav(yield* all(line, tone(200, 16000, 5, level), 16000))
        expect(Math.abs(dbfs(rms(samples.subarray(3 * 24000))) + 20)).toBeLessThan(0.5)
      }
    }).pipe(Effect.scoped, Effect.provide(SoundLines.layer({ threads: 1 })))
  )

  it.live("counts the silence of a drain into the position, and takes another rate in the middle", () =>
    Effect.gen(function* () {
      const lines = yield* SoundLines
      const line = yield* lines.open({
        format: { codec: "mp3", sampleRate: 32000, kbps: 64 },
        volumeDb: 0,
        level: false
      })
      yield* line.write(tone(300, 16000, 0.5, 0.3), 16000)
      yield* line.drain
      const drained = line.positionMs()
      expect(drained).toBeGreaterThan(530)
      expect(drained).toBeLessThan(750)
      yield* line.write(tone(300, 24000, 0.5, 0.3), 24000)
      yield* line.finish
      expect(line.positionMs() - drained).toBeCloseTo(500, 0)
      const refused = yield* Effect.flip(line.write(new Int16Array(10), 16000.5))
      expect(refused.reason).toBe("InvalidOutput")
    }).pipe(Effect.scoped, Effect.provide(SoundLines.layer({ threads: 1 })))
  )

  it.live("serves many lines on few threads, refuses one too many, and has room again when one closes", () =>
    Effect.gen(function* () {
      const lines = yield* SoundLines
      const open = lines.open({ format: wav24, volumeDb: 0, level: false })
      const first = yield* Scope.make()
      yield* Scope.provide(open, first)
      const others = yield* Effect.all(Array.from({ length: 7 }, () => open))
      const sizes = yield* Effect.forEach(others, (line) => all(line, tone(300, 16000, 0.4, 0.3), 16000), {
        concurrency: "unbounded"
      })
      expect(new Set(sizes.map((bytes) => bytes.length))).toEqual(new Set([44 + 2 * 9600]))
      expect((yield* Effect.flip(open)).reason).toBe("Overloaded")
      yield* Scope.close(first, Exit.void)
      yield* open
    }).pipe(Effect.scoped, Effect.provide(SoundLines.layer({ threads: 2, lineLimit: 8 })))
  )

  it.live("fails the lines of a thread that dies or hangs, and serves the next line", () =>
    Effect.gen(function* () {
      const lines = yield* SoundLines
      const line = yield* lines.open({ format: wav24, volumeDb: 0, level: false })
      const neighbour = yield* lines.open({ format: wav24, volumeDb: 0, level: false })
      for (const [rate, which] of [
        [666, line],
        [667, undefined]
      ] as const) {
        const victim = which ?? (yield* lines.open({ format: wav24, volumeDb: 0, level: false }))
        const fault = yield* Effect.flip(victim.write(new Int16Array(10), rate))
        expect(fault).toMatchObject({ reason: "Unavailable", isRetryable: true })
        expect((yield* Effect.flip(neighbour.finish)).reason).toBe("Unavailable")
      }
      const next = yield* Effect.retry(lines.open({ format: wav24, volumeDb: 0, level: false }), { times: 1 })
      expect((yield* next.finish).length).toBe(1)
    }).pipe(Effect.scoped, Effect.provide(SoundLines.layer({ threads: 1, program: dying, blockMs: 1500 })))
  )

  it.live("ends its threads with its scope, also in the middle of a write", () =>
    Effect.gen(function* () {
      const outcome = yield* Effect.exit(
        Effect.gen(function* () {
          const lines = yield* SoundLines
          const line = yield* lines.open({
            format: { codec: "mp3", sampleRate: 44100, kbps: 192 },
            volumeDb: 0,
            level: true
          })
          yield* Effect.forkChild(line.write(tone(200, 16000, 60, 0.2), 16000))
          yield* Effect.sleep(20)
          return yield* Effect.interrupt
        }).pipe(Effect.scoped, Effect.provide(SoundLines.layer({ threads: 2 })))
      )
      expect(Exit.isFailure(outcome) && Cause.hasInterrupts(outcome.cause)).toBe(true)
      expect(process.getActiveResourcesInfo().filter((name) => name === "Worker" || name === "MessagePort")).toEqual([])
    })
  )
})
