import { assert, describe, it } from "@effect/vitest"
import { textPieces } from "../../src/http/sockets/textPieces.ts"

describe("textPieces", () => {
  it.each(["", "a", "a".repeat(16_384), `a${"\u{1F600}".repeat(20_000)}`, "\u{1F600}".repeat(20_000)])(
    "loses nothing and cuts no character",
    (text) => {
      const pieces = textPieces(text)
      assert.strictEqual(pieces.join(""), text)
      assert.isTrue(pieces.every((piece) => piece.isWellFormed() && piece.length > 0 && piece.length <= 16_384))
    }
  )
})
