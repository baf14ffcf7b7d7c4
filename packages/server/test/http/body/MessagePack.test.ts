import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { MessagePack } from "../../../src/http/body/MessagePack.ts"
import { readFlatMap } from "../../../src/http/body/MessagePackFile.ts"

const hostile: ReadonlyArray<readonly [string, ReadonlyArray<number>]> = [
  ["nothing", []],
  ["a map that is cut", [0x82, 0xa1, 0x61, 0x01]],
  ["an array that claims four billion entries", [0xdd, 0xff, 0xff, 0xff, 0xff]],
  ["a map that claims four billion entries", [0xdf, 0xff, 0xff, 0xff, 0xff]],
  ["binary that claims four gigabytes", [0x81, 0xa1, 0x61, 0xc6, 0xff, 0xff, 0xff, 0xff, 0x00]],
  ["text that claims four gigabytes", [0x81, 0xa1, 0x61, 0xdb, 0xff, 0xff, 0xff, 0xff, 0x00]],
  ["a number as key", [0x81, 0x01, 0x02]],
  ["the prototype as key", [0x81, 0xa9, ...Buffer.from("__proto__"), 0x80]],
  ["an extension type", [0x81, 0xa1, 0x61, 0xd4, 0x05, 0x00]],
  ["a time stamp", [0x81, 0xa1, 0x61, 0xd6, 0xff, 0, 0, 0, 0]],
  ["nesting without end", Array.from({ length: 50_000 }, () => 0x91)],
  ["something after the map", [0x80, 0x80]],
  ["the byte that is never used", [0xc1]]
]

describe("MessagePack", () => {
  it.each(hostile)("refuses %s", (_, bytes) => {
    expect(Result.isFailure(MessagePack.decode(Uint8Array.from(bytes)))).toBe(true)
  })

  it("gives back what it made, binary as bytes", () => {
    const value = { event: "start", request: { text: "hé", references: [{ audio: Uint8Array.of(1, 2), text: "" }] } }
    expect(MessagePack.decode(MessagePack.encode(value))).toEqual(Result.succeed(value))
  })
})

describe("MessagePack in a file", () => {
  let folder = ""
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "parley-msgpack-"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const read = (bytes: Uint8Array) => {
    const path = join(folder, "body")
    writeFileSync(path, bytes)
    return readFlatMap(path)
  }

  it.each(hostile)("refuses %s", (_, bytes) => {
    expect(Result.isFailure(read(Uint8Array.from(bytes)))).toBe(true)
  })

  it("reads small values and finds binary", () => {
    const audio = new Uint8Array(100_000).fill(7)
    const bytes = MessagePack.encode({ audio, language: "en", ignore_timestamps: false, n: -3, f: 1.5, none: null })
    const map = read(bytes)
    if (Result.isFailure(map)) throw map.failure
    const place = map.success.binaries.get("audio")
    expect(bytes.subarray(place?.offset, (place?.offset ?? 0) + (place?.length ?? 0))).toEqual(audio)
    expect(Object.fromEntries(map.success.values)).toEqual({
      language: "en",
      ignore_timestamps: false,
      n: -3,
      f: 1.5,
      none: null
    })
  })

  it("refuses a list where a flat map is asked", () => {
    expect(Result.isFailure(read(MessagePack.encode({ audio: [new Uint8Array(3)] })))).toBe(true)
  })
})
