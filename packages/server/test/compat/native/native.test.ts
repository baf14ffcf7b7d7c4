import { Effect, Exit } from "effect"
import { describe, expect, it } from "vitest"
import { modelNamed } from "../../../src/compat/native/modelOf.ts"
import { nativeRequest } from "../../../src/compat/native/nativeRequest.ts"
import { nativeOf, vendorHeaders } from "../../../src/compat/native/vendorHeaders.ts"

const context = { workspaceId: "ws", model: "s2.1-pro", timing: false } as const

describe("the service's own parameters in a compatibility layer", () => {
  it("reads them from headers, as JSON where that works", () => {
    const headers = {
      "x-vendor-chunk-length": "150",
      "x-vendor-prosody": '{"speed":1.5}',
      "x-vendor-latency": "normal",
      "x-vendor-text": "not this",
      "x-other-normalize": "false"
    }
    expect(vendorHeaders(headers, ["vendor"])).toEqual({
      chunk_length: 150,
      prosody: { speed: 1.5 },
      latency: "normal"
    })
  })

  it("lets nothing else through from options", () => {
    expect(
      nativeOf({ prosody: { speed: 2 }, text: "x", format: "wav", reference_id: "y", __proto__: { a: 1 } })
    ).toEqual({ prosody: { speed: 2 } })
    expect(nativeOf("text")).toEqual({})
    expect(nativeOf(null)).toEqual({})
  })

  it("knows its models by the vendor's name", () => {
    expect(modelNamed("vendor-audio/s2-pro", ["vendor"])).toEqual({ _tag: "Ours", model: "s2-pro" })
    expect(modelNamed("vendor-audio/s3", ["vendor"])).toEqual({ _tag: "Unknown" })
    expect(modelNamed("some_multilingual_v2", ["vendor"])).toEqual({ _tag: "Foreign" })
  })

  it("is low in latency unless it is set, and refuses what the main API refuses", () => {
    const made = Effect.runSync(nativeRequest({ format: "pcm", prosody: { speed: 1.2 } }, context))
    expect(made.settings).toMatchObject({ latency: "low", speed: 1.2, format: { codec: "pcm", sampleRate: 44_100 } })
    const refused = Effect.runSyncExit(nativeRequest({ chunk_length: 9999 }, context))
    expect(Exit.isFailure(refused)).toBe(true)
  })
})
