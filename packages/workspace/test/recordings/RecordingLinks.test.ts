import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { RecordingLinks } from "../../src/recordings/RecordingLinks.ts"
import { signLink, verifyLink } from "../../src/recordings/linkToken.ts"
import { makeSecretBox } from "../../src/storage/SecretBox.ts"
import { Secrets } from "../../src/storage/Secrets.ts"

const key = Buffer.alloc(32, 7)
const ends = 1_800_000_000
const before = (ends - 1) * 1000
const file = signLink(key, "track_1", ends)

/** With one bit of its bytes turned. */
const flipped = (at: number): string => {
  const bytes = Buffer.from(file.slice(0, -4), "base64url")
  const place = at < 0 ? bytes.length + at : at
  bytes[place] = bytes[place]! ^ 1
  return `${bytes.toString("base64url")}.ogg`
}

describe("RecordingLinks", () => {
  it("names the track until its end", () => {
    assert.strictEqual(verifyLink(key, file, before), "track_1")
    assert.strictEqual(verifyLink(key, file, ends * 1000), undefined)
  })

  it.each([
    ["another installation", file, Buffer.alloc(32, 8)],
    ["a later end", flipped(4), key],
    ["another mac", flipped(20), key],
    ["another track", flipped(-1), key],
    ["another version", flipped(0), key],
    ["another spelling", file.replace(".ogg", "=.ogg"), key],
    ["no extension", file.replace(".ogg", ""), key],
    ["a piece", `${file.slice(0, 30)}.ogg`, key],
    ["nothing", ".ogg", key],
    ["noise", "\0\ud800 not a link.ogg", key]
  ])("refuses %s", (_, name, used) => assert.strictEqual(verifyLink(used, name, before), undefined))

  it.effect("signs for a quarter of an hour", () =>
    Effect.gen(function* () {
      const links = yield* RecordingLinks
      const link = yield* links.sign("track_1")
      assert.strictEqual(link.expiresAt.getTime(), 15 * 60 * 1000)
      yield* TestClock.adjust("14 minutes")
      assert.strictEqual(yield* links.verify(link.file), "track_1")
      yield* TestClock.adjust("1 minute")
      assert.strictEqual((yield* Effect.flip(links.verify(link.file))).status, 403)
    }).pipe(
      Effect.provide(
        RecordingLinks.layer.pipe(Layer.provide(Layer.succeed(Secrets, makeSecretBox(Buffer.alloc(32, 1)))))
      )
    )
  )
})
