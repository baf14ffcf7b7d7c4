import { assert, describe, it } from "@effect/vitest"
import { searchLanguage, searchQuery, searchText } from "../../src/knowledge/searchWords.ts"

describe("searchLanguage", () => {
  it("knows a document by its most frequent words", () => {
    const texts = {
      english: "The shop is open from nine to five, and you can park in the yard for free.",
      german: "Der Laden ist von neun bis fünf geöffnet, und Sie können auf dem Hof mit dem Auto parken.",
      french: "Le magasin est ouvert de neuf à cinq, et vous pouvez garer la voiture dans la cour.",
      spanish: "La tienda está abierta de nueve a cinco y se puede aparcar en el patio por la tarde.",
      simple: "Widget 4711: 12 EUR; Gadget 0815: 30 EUR"
    }
    for (const [language, text] of Object.entries(texts)) assert.strictEqual(searchLanguage(text), language)
    assert.strictEqual(searchLanguage(""), "simple")
  })
})

describe("searchQuery", () => {
  it("asks for any word, once, and holds nothing that a query could be made of", () => {
    assert.strictEqual(
      searchQuery("When's the SHOP open, the shop on day 7?"),
      "'when' | 'the' | 'shop' | 'open' | 'on' | 'day' | '7'"
    )
    assert.strictEqual(searchQuery("a' | !b & ('c\\') <-> :* \0 \ud800"), "")
    assert.strictEqual(searchQuery("x".repeat(600)), "")
    assert.strictEqual(searchQuery(Array.from({ length: 500 }, (_, i) => `w${i}`).join(" ")).split(" | ").length, 40)
  })

  it("pairs the characters of scripts without spaces", () => {
    assert.strictEqual(searchQuery("营业时间"), "'营业' | '业时' | '时间'")
    assert.strictEqual(searchText("Tel:营业 ok"), "tel 营业 ok")
  })
})
