import { describe, expect, it } from "@effect/vitest"
import { guessLanguage } from "../../src/text/LanguageGuess.ts"

describe("guessLanguage", () => {
  it.each([
    ["The weather is nice today and we are going to the park.", "en"],
    ["Could you please tell me where the station is?", "en"],
    ["Das Wetter ist heute schön, und wir gehen in den Park.", "de"],
    ["Können Sie mir bitte sagen, wo der Bahnhof ist?", "de"],
    ["Il fait beau aujourd'hui et nous allons dans le parc.", "fr"],
    ["Pouvez-vous me dire où est la gare, s'il vous plaît ?", "fr"],
    ["Hace buen tiempo hoy y vamos a ir al parque con los niños.", "es"],
    ["¿Puede decirme dónde está la estación, por favor?", "es"],
    ["Hello there", undefined],
    ["Voilà!", undefined],
    ["OK", undefined],
    ["", undefined],
    ["12345", undefined],
    ["$(reboot) `id` %s %n", undefined],
    ["It's Anna's.", undefined],
    ["D'où vient-il ? Qu'est-ce qu'il dit ?", "fr"],
    ["你好，很高兴认识你。", undefined],
    ["Сегодня хорошая погода, и мы идём в парк.", undefined],
    ["\uD800\u0000", undefined]
  ])("takes %j for %s", (text, language) => {
    expect(guessLanguage(text)).toBe(language)
  })

  it("does not take a foreign quotation in an English text for the text", () => {
    expect(guessLanguage("He said: je ne sais pas, and then he left the room with his coat on.")).not.toBe("fr")
  })
})
