import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DesignSignatures } from "../../src/voices/DesignSignatures.ts"
import { signDesign, verifyDesign } from "../../src/voices/designToken.ts"
import { makeSecretBox } from "../../src/storage/SecretBox.ts"
import { Secrets } from "../../src/storage/Secrets.ts"

const key = Buffer.alloc(32, 7)
const digest = createHash("sha256").update("clip").digest()
const design = { workspaceId: "ws_1", candidateId: "cand_1", digest, endsMs: 1_800_000_000_000 }
const claim = { workspaceId: "ws_1", digest, nowMs: 1_799_999_000_000 }
const signature = signDesign(key, design)

describe("DesignSignatures", () => {
  it("holds for the very clip, workspace and time", () => assert.isTrue(verifyDesign(key, signature, claim)))

  it.each([
    ["another clip", { ...claim, digest: createHash("sha256").update("clip2").digest() }, signature, key],
    ["another workspace", { ...claim, workspaceId: "ws_2" }, signature, key],
    ["later", { ...claim, nowMs: design.endsMs }, signature, key],
    ["another installation", claim, signature, Buffer.alloc(32, 8)],
    ["a later end", claim, flipped(2), key],
    ["another mac", claim, flipped(20), key],
    ["another candidate", claim, flipped(-1), key],
    ["another version", claim, flipped(0), key],
    ["another spelling", claim, `${signature}A`, key],
    ["padding", claim, `${signature}=`, key],
    ["nothing", claim, "", key],
    ["a piece", claim, signature.slice(0, 40), key],
    ["noise", claim, "\0\ud800 not a signature", key]
  ])("refuses %s", (_, claimed, text, used) => assert.isFalse(verifyDesign(used, text, claimed)))

  it.effect("signs for a day, over the bytes of the file", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "parley-design-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
      const file = join(folder, "clip.wav")
      writeFileSync(file, "clip")
      const signatures = yield* DesignSignatures
      const signed = yield* signatures.sign({ workspaceId: "ws_1", candidateId: "c", audio: Buffer.from("clip") })
      yield* TestClock.adjust("23 hours")
      yield* signatures.verify(signed, "ws_1", file)
      const foreign = yield* Effect.flip(signatures.verify(signed, "ws_2", file))
      assert.deepInclude(foreign, {
        status: 400,
        message: "Invalid voice-design signature",
        reason: "invalid_voice_design_signature"
      })
      yield* TestClock.adjust("2 hours")
      assert.strictEqual((yield* Effect.flip(signatures.verify(signed, "ws_1", file))).status, 400)
    }).pipe(
      Effect.scoped,
      Effect.provide(
        DesignSignatures.layer.pipe(Layer.provide(Layer.succeed(Secrets, makeSecretBox(Buffer.alloc(32, 1)))))
      )
    )
  )
})

function flipped(at: number): string {
  const bytes = Buffer.from(signature, "base64url")
  const index = at < 0 ? bytes.length + at : at
  bytes.writeUInt8(bytes.readUInt8(index) ^ 1, index)
  return bytes.toString("base64url")
}
