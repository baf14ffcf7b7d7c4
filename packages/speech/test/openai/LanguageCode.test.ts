import { expect, it } from "@effect/vitest"
import { languageCode } from "../../src/openai/LanguageCode.ts"

it.each([
  ["english", "en"],
  ["German", "de"],
  ["fr", "fr"],
  ["pt-BR", "pt"],
  ["chinese", "zh"],
  ["hebrew", "he"],
  ["norwegian", "no"],
  ["haitian creole", "ht"],
  ["", undefined],
  ["xx", undefined],
  ["klingon", undefined],
  [null, undefined],
  [7, undefined]
])("reads the language %j as %j", (name, code) => {
  expect(languageCode(name)).toBe(code)
})
