import { describe, expect, it } from "vitest"
import { spokenText } from "../../src/flite/SpokenText.ts"

const said = (text: string): string => {
  const result = spokenText(text)
  return result._tag === "Sayable" ? result.pieces.map((piece) => piece.map((t) => t.spoken).join(" ")).join("|") : "-"
}

describe("SpokenText", () => {
  it.each([
    ["Café au lait, naïve Łukasz", "Cafe au lait, naive Lukasz"],
    ["“It’s” — fine…", '"It\'s", fine...'],
    ["wait - no", "wait, no"],
    ["emoji 😊 gone", "emoji gone"],
    ["nul\0 and\u0007 bell\nline", "nul and bell line"],
    ["5 € or £3", "5 euro or pound3"],
    ["/etc/passwd", "/etc/passwd"],
    ["ｆｕｌｌ width", "full width"]
  ])("says %j as %j", (text, expected) => {
    expect(said(text)).toBe(expected)
  })

  it.each(["", "   ", "😊😊", "...", "你好", "Привет, как дела", "مرحبا", "你好世界 a"])(
    "does not pretend to say %j",
    (text) => {
      expect(spokenText(text)._tag).toBe("NotSayable")
    }
  )

  it("points each token into the caller's text", () => {
    const text = "  Ça — va,  “bien”?"
    const result = spokenText(text)
    if (result._tag !== "Sayable") return expect.fail("not sayable")
    for (const token of result.pieces.flat()) expect(text.slice(token.from, token.to)).toBe(token.text)
    expect(result.pieces.flat().map((token) => token.text)).toEqual(["Ça", "va,", "“bien”?"])
  })

  it("cuts long text after sentences, else clauses, else words, and never loses a token", () => {
    const sentence = "This one has about forty characters. "
    const pieces = said(sentence.repeat(20).trim()).split("|")
    expect(pieces.length).toBeGreaterThan(2)
    for (const piece of pieces) {
      expect(piece.length).toBeLessThanOrEqual(300)
      expect(piece.endsWith(".")).toBe(true)
    }
    expect(pieces.join(" ")).toBe(sentence.repeat(20).trim())
    const endless = said("word ".repeat(200)).split("|")
    expect(endless.join(" ")).toBe("word ".repeat(200).trim())
    expect(
      said("a".repeat(1000))
        .split("|")
        .every((piece) => piece.length <= 300)
    ).toBe(true)
  })
})
