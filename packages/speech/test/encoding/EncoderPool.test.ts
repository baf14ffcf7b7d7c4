// The encoder pool over real threads: bytes per format, volume that never clips, levelling, limits, and threads that die.
import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Scope } from "effect"
import { parseWav } from "@parley/audio/Wav"
import { dbfs, peak } from "@parley/audio/Level"
import { rms } from "@parley/audio/testing/rms"
import type { OutputFormat } from "@parley/audio/encode/OutputFormat"
import { EncoderPool } from "@parley/speech/encoding/EncoderPool"
import type { OutputEncoder } from "@parley/speech/encoding/EncoderPool"

const tone = (hz: number, sampleRate: number, seconds: number, level: number): Int16Array =>
  Int16Array.from({ length: Math.round(sampleRate * seconds) }, (_, n) =>
    Math.round(32767 * level * Math.sin((2 * Math.PI * hz * n) / sampleRate))
  )

const all = Effect.fnUntraced(function* (encoder: OutputEncoder, samples: Int16Array, sampleRate: number) {
  const written = yield* encoder.write(samples, sampleRate)
  const rest = yield* encoder.finish
  return Buffer.concat([written, rest])
})

const wav24: OutputFormat = { codec: "wav", sampleRate: 24000 }
const dying = new URL("./dyingThread.ts", import.meta.url)

describe("EncoderPool", () => {
  it.live.each<OutputFormat>([
    wav24,
    { codec: "pcm", sampleRate: 8000 },
    { codec: "mp3", sampleRate: 44100, kbps: 128 },
    { codec: "opus", sampleRate: 48000, bitsPerSecond: undefined }
  ])("writes %o the same however the caller cuts", (format) =>
    Effect.gen(function* () {
      const encoders = yield* EncoderPool
      const samples = tone(300, 16000, 1.23, 0.3)
      const once = yield* Effect.scoped(
        Effect.gen(function* () {
          const encoder = yield* encoders.open({ format, volumeDb: 3, level: true })
          const bytes = yield* all(encoder, samples, 16000)
          expect(encoder.positionMs()).toBeCloseTo(1230, 0)
          return bytes
        })
      )
      const cut = yield* Effect.scoped(
        Effect.gen(function* () {
          const encoder = yield* encoders.open({ format, volumeDb: 3, level: true })
          const parts: Array<Uint8Array> = []
          for (let at = 0; at < samples.length; at += 777) {
            parts.push(yield* encoder.write(samples.subarray(at, at + 777), 16000))
          }
          parts.push(yield* encoder.finish)
          return Buffer.concat(parts)
        })
      )
      // Serial numbers of Ogg differ from file to file.
      if (format.codec === "opus") expect(cut.length).toBe(once.length)
      else expect(cut.equals(once)).toBe(true)
      expect(once.length).toBeGreaterThan(2000)
    }).pipe(Effect.provide(EncoderPool.layer({ threads: 1 })))
  )

  it.live("changes the volume, and bends peaks instead of cutting them", () =>
    Effect.gen(function* () {
      const encoders = yield* EncoderPool
      const at = (volumeDb: number, level: number) =>
        Effect.scoped(
          Effect.gen(function* () {
            const encoder = yield* encoders.open({ format: wav24, volumeDb, level: false })
            return parseWav(yield* all(encoder, tone(300, 24000, 0.5, level), 24000)).samples
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
    }).pipe(Effect.provide(EncoderPool.layer({ threads: 1 })))
  )

  it.live("brings quiet and loud voices to one loudness", () =>
    Effect.gen(function* () {
      const encoders = yield* EncoderPool
      for (const level of [0.06, 0.4]) {
        const encoder = yield* encoders.open({ format: wav24, volumeDb: 0, level: true })
        const { samples } = parseWav(yield* all(encoder, tone(200, 16000, 5, level), 16000))
        expect(Math.abs(dbfs(rms(samples.subarray(3 * 24000))) + 20)).toBeLessThan(0.5)
      }
    }).pipe(Effect.scoped, Effect.provide(EncoderPool.layer({ threads: 1 })))
  )

  it.live("counts the silence of a drain into the position, and takes another rate in the middle", () =>
    Effect.gen(function* () {
      const encoders = yield* EncoderPool
      const encoder = yield* encoders.open({
        format: { codec: "mp3", sampleRate: 32000, kbps: 64 },
        volumeDb: 0,
        level: false
      })
      yield* encoder.write(tone(300, 16000, 0.5, 0.3), 16000)
      yield* encoder.drain
      const drained = encoder.positionMs()
      expect(drained).toBeGreaterThan(530)
      expect(drained).toBeLessThan(750)
      yield* encoder.write(tone(300, 24000, 0.5, 0.3), 24000)
      yield* encoder.finish
      expect(encoder.positionMs() - drained).toBeCloseTo(500, 0)
      const refused = yield* Effect.flip(encoder.write(new Int16Array(10), 16000.5))
      expect(refused.reason).toBe("InvalidOutput")
    }).pipe(Effect.scoped, Effect.provide(EncoderPool.layer({ threads: 1 })))
  )

  it.live("serves many encoders on few threads, refuses one too many, and has room again when one closes", () =>
    Effect.gen(function* () {
      const encoders = yield* EncoderPool
      const open = encoders.open({ format: wav24, volumeDb: 0, level: false })
      const first = yield* Scope.make()
      yield* Scope.provide(open, first)
      const others = yield* Effect.all(Array.from({ length: 7 }, () => open))
      const sizes = yield* Effect.forEach(others, (encoder) => all(encoder, tone(300, 16000, 0.4, 0.3), 16000), {
        concurrency: "unbounded"
      })
      expect(new Set(sizes.map((bytes) => bytes.length))).toEqual(new Set([44 + 2 * 9600]))
      expect((yield* Effect.flip(open)).reason).toBe("Overloaded")
      yield* Scope.close(first, Exit.void)
      yield* open
    }).pipe(Effect.scoped, Effect.provide(EncoderPool.layer({ threads: 2, encoderLimit: 8 })))
  )

  it.live("fails the encoders of a thread that dies or hangs, and serves the next one", () =>
    Effect.gen(function* () {
      const encoders = yield* EncoderPool
      const encoder = yield* encoders.open({ format: wav24, volumeDb: 0, level: false })
      const neighbour = yield* encoders.open({ format: wav24, volumeDb: 0, level: false })
      for (const [rate, which] of [
        [666, encoder],
        [667, undefined]
      ] as const) {
        const victim = which ?? (yield* encoders.open({ format: wav24, volumeDb: 0, level: false }))
        const fault = yield* Effect.flip(victim.write(new Int16Array(10), rate))
        expect(fault).toMatchObject({ reason: "Unavailable", isRetryable: true })
        expect((yield* Effect.flip(neighbour.finish)).reason).toBe("Unavailable")
      }
      const next = yield* Effect.retry(encoders.open({ format: wav24, volumeDb: 0, level: false }), { times: 1 })
      expect((yield* next.finish).length).toBe(1)
    }).pipe(Effect.scoped, Effect.provide(EncoderPool.layer({ threads: 1, program: dying, blockMs: 1500 })))
  )

  it.live("ends its threads with its scope, also in the middle of a write", () =>
    Effect.gen(function* () {
      const outcome = yield* Effect.exit(
        Effect.gen(function* () {
          const encoders = yield* EncoderPool
          const encoder = yield* encoders.open({
            format: { codec: "mp3", sampleRate: 44100, kbps: 192 },
            volumeDb: 0,
            level: true
          })
          yield* Effect.forkChild(encoder.write(tone(200, 16000, 60, 0.2), 16000))
          yield* Effect.sleep(20)
          return yield* Effect.interrupt
        }).pipe(Effect.scoped, Effect.provide(EncoderPool.layer({ threads: 2 })))
      )
      expect(Exit.isFailure(outcome) && Cause.hasInterrupts(outcome.cause)).toBe(true)
      expect(process.getActiveResourcesInfo().filter((name) => name === "Worker" || name === "MessagePort")).toEqual([])
    })
  )
})
