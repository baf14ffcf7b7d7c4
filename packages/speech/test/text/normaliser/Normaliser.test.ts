import { describe, expect, it } from "@effect/vitest"
import { normalise } from "../../../src/text/normaliser/Normaliser.ts"
import { nonsense } from "../Arbitrary.ts"

const table = (language: string, rows: ReadonlyArray<readonly [string, string]>) =>
  describe(`normalise: ${language}`, () => {
    it.each(rows)("reads %j as %j", (written, spoken) => {
      expect(normalise(written, language).text).toBe(spoken)
    })
  })

table("en", [
  ["I have 3 cats.", "I have three cats."],
  ["It is 1,234,567.", "It is one million two hundred thirty-four thousand five hundred sixty-seven."],
  ["pi is 3.14159", "pi is three point one four one five nine"],
  ["-5 degrees", "minus five degrees"],
  ["On 2025-12-31 we go", "On December thirty-first, twenty twenty-five we go"],
  [
    "12/31/2025 and 31/12/2025",
    "December thirty-first, twenty twenty-five and December thirty-first, twenty twenty-five"
  ],
  ["May 3, 2025 was fine", "May third, twenty twenty-five was fine"],
  ["the 3rd of May 2025", "the third of May, twenty twenty-five"],
  ["3 May", "May third"],
  [
    "in 1999 and 2005 and 2000 and 1900",
    "in nineteen ninety-nine and two thousand five and two thousand and nineteen hundred"
  ],
  ["the 1990s", "the nineteen nineties"],
  ["at 9:00 or 9:05 or 14:30", "at nine o'clock or nine oh five or fourteen thirty"],
  ["5pm, 5:30 p.m. sharp", "five p m, five thirty p m sharp"],
  ["7:15 AM.", "seven fifteen a m"],
  ["$3.50, $1, $0.99", "three dollars and fifty cents, one dollar, ninety-nine cents"],
  ["$1.5 million and $5bn", "one point five million dollars and five billion dollars"],
  ["€20 and 20 €", "twenty euros and twenty euros"],
  ["£1", "one pound"],
  ["50%", "fifty percent"],
  ["call +1 (555) 010-9999 now", "call plus one, five five five, zero one zero, nine nine nine nine now"],
  ["555-1234", "five five five, one two three four"],
  ["(212) 555-0100", "two one two, five five five, zero one zero zero"],
  ["5 km, 1 km", "five kilometers, one kilometer"],
  ["100 km/h", "one hundred kilometers per hour"],
  ["-3°C", "minus three degrees Celsius"],
  ["16 GB RAM", "sixteen gigabytes RAM"],
  ["10-20 kg", "ten to twenty kilograms"],
  ["pages 3-5", "pages three to five"],
  ["1914–1918", "nineteen fourteen to nineteen eighteen"],
  ["mail john_doe@x-y.com.", "mail john underscore doe at x dash y dot com."],
  ["see https://example.com/a/b?q=1.", "see example dot com slash a slash b q one."],
  ["www.example.org", "w w w dot example dot org"],
  ["Dr. Smith lives on Main St. now", "Doctor Smith lives on Main Street now"],
  ["Mr. and Mrs. Jones", "Mister and Missus Jones"],
  ["e.g. this, i.e. that, etc.", "for example this, that is that, et cetera."],
  ["No. 5", "number five"],
  ["Louis XIV and Henry VIII.", "Louis the fourteenth and Henry the eighth."],
  ["Chapter IV", "Chapter four"],
  ["XIX century", "nineteenth century"],
  ["NATO and USA", "NATO and USA"],
  ["MP3 and A4 and B2B", "MP3 and A4 and B2B"],
  ["version 1.2.3", "version one dot two dot three"],
  ["192.168.0.1", "one hundred ninety-two dot one hundred sixty-eight dot zero dot one"],
  ["1/2 cup", "one half cup"],
  ["2½ cups", "two and a half cups"],
  ["21st 2nd 103rd", "twenty-first second one hundred third"],
  ["007", "zero zero seven"],
  [
    "12345678901234567890",
    "one two three four five six seven eight nine zero one two three four five six seven eight nine zero"
  ],
  ["100,000", "one hundred thousand"],
  ["a 5-3 win", "a five-three win"],
  ["It costs 5-10%", "It costs five to ten percent"],
  ["24/7", "twenty-four seven"],
  ["Room 101.", "Room one hundred one."],
  ["10:30:15", "ten thirty and fifteen seconds"],
  ["1234", "one thousand two hundred thirty-four"],
  ["rock & roll", "rock and roll"],
  ["St. Mary", "Saint Mary"],
  ["20th century", "twentieth century"],
  ["9/11", "nine eleven"]
])

table("de", [
  ["Ich habe 3 Katzen.", "Ich habe drei Katzen."],
  ["1.234.567 Leute", "eine Million zweihundertvierunddreißigtausendfünfhundertsiebenundsechzig Leute"],
  ["3,14", "drei Komma eins vier"],
  ["-5 Grad", "minus fünf Grad"],
  ["am 31.12.2025", "am einunddreißigsten Dezember zweitausendfünfundzwanzig"],
  ["Der 31.12.2025", "Der einunddreißigste Dezember zweitausendfünfundzwanzig"],
  ["31.12.2025", "einunddreißigster Dezember zweitausendfünfundzwanzig"],
  ["2025-12-31", "einunddreißigster Dezember zweitausendfünfundzwanzig"],
  ["am 3. Mai 2025", "am dritten Mai zweitausendfünfundzwanzig"],
  ["der 3. Mai", "der dritte Mai"],
  ["im Jahr 1999, 2005", "im Jahr neunzehnhundertneunundneunzig, zweitausendfünf"],
  ["um 14:30 Uhr", "um vierzehn Uhr dreißig"],
  ["um 9:00", "um neun Uhr"],
  ["14.30 Uhr", "vierzehn Uhr dreißig"],
  ["um 14 Uhr", "um vierzehn Uhr"],
  ["1 Uhr", "ein Uhr"],
  ["3,50 €", "drei Euro und fünfzig Cent"],
  ["1 €", "ein Euro"],
  ["0,99 €", "neunundneunzig Cent"],
  ["€ 5", "fünf Euro"],
  ["2,5 Mio. €", "zwei Komma fünf Millionen Euro"],
  ["10 Mio. Menschen", "zehn Millionen Menschen"],
  ["50 %", "fünfzig Prozent"],
  ["1 %", "ein Prozent"],
  ["+49 30 1234567", "plus vier neun, drei null, eins zwei drei vier fünf sechs sieben"],
  ["030 1234567", "null drei null, eins zwei drei vier fünf sechs sieben"],
  ["5 km", "fünf Kilometer"],
  ["100 km/h", "einhundert Kilometer pro Stunde"],
  ["-3 °C", "minus drei Grad Celsius"],
  ["16 GB", "sechzehn Gigabyte"],
  ["10-20 kg", "zehn bis zwanzig Kilogramm"],
  ["1 kWh", "eine Kilowattstunde"],
  ["Seiten 3-5", "Seiten drei bis fünf"],
  ["1914–1918", "neunzehnhundertvierzehn bis neunzehnhundertachtzehn"],
  ["max.mueller@firma.de", "max Punkt mueller ät firma Punkt de"],
  ["https://beispiel.de/pfad", "beispiel Punkt de Schrägstrich pfad"],
  ["z. B. das, d. h. dies usw.", "zum Beispiel das, das heißt dies und so weiter."],
  ["Dr. Müller und Prof. Schmidt", "Doktor Müller und Professor Schmidt"],
  ["Nr. 5", "Nummer fünf"],
  ["Hauptstr. 12", "Hauptstraße zwölf"],
  ["Ludwig XIV. war", "Ludwig der Vierzehnte war"],
  ["Heinrich VIII", "Heinrich der Achte"],
  ["Kapitel IV", "Kapitel vier"],
  ["zum 5. Mal", "zum fünften Mal"],
  ["die 1990er", "die neunzehnhundertneunziger"],
  ["1/2 Liter", "ein halb Liter"],
  ["2½ Jahre", "zwei und ein halb Jahre"],
  ["007", "null null sieben"],
  ["1 000 000", "eine Million"],
  ["0", "null"],
  ["21 Tage", "einundzwanzig Tage"],
  ["100 000 Euro", "einhunderttausend Euro"],
  ["im 19. Jahrhundert", "im neunzehnten Jahrhundert"],
  ["§ 5", "Paragraf fünf"],
  ["ca. 20", "circa zwanzig"],
  ["bzw.", "beziehungsweise"],
  ["12.345,67 €", "zwölftausenddreihundertfünfundvierzig Euro und siebenundsechzig Cent"],
  ["1 Stunde", "eine Stunde"],
  ["30. Juni", "dreißigster Juni"],
  ["um 7:05", "um sieben Uhr fünf"],
  ["2. Ende", "zwei. Ende"]
])

table("fr", [
  ["J'ai 3 chats.", "J'ai trois chats."],
  ["1 234 567", "un million deux cent trente-quatre mille cinq cent soixante-sept"],
  ["3,14", "trois virgule quatorze"],
  ["3,05", "trois virgule zéro cinq"],
  ["-5 degrés", "moins cinq degrés"],
  ["le 31/12/2025", "le trente et un décembre deux mille vingt-cinq"],
  ["2025-12-31", "trente et un décembre deux mille vingt-cinq"],
  ["le 1er mai 2025", "le premier mai deux mille vingt-cinq"],
  ["3 mai", "trois mai"],
  ["à 14h30", "à quatorze heures trente"],
  ["14 h", "quatorze heures"],
  ["9h05", "neuf heures cinq"],
  ["14:30", "quatorze heures trente"],
  ["1h", "une heure"],
  ["3,50 €", "trois euros et cinquante centimes"],
  ["1 €", "un euro"],
  ["0,99 €", "quatre-vingt-dix-neuf centimes"],
  ["2,5 millions €", "deux virgule cinq millions d'euros"],
  ["50 %", "cinquante pour cent"],
  ["01 23 45 67 89", "zéro un, deux trois, quatre cinq, six sept, huit neuf"],
  ["+33 1 23 45 67 89", "plus trois trois, un, deux trois, quatre cinq, six sept, huit neuf"],
  ["5 km", "cinq kilomètres"],
  ["100 km/h", "cent kilomètres heure"],
  ["-3 °C", "moins trois degrés Celsius"],
  ["16 Go", "seize gigaoctets"],
  ["10-20 kg", "dix à vingt kilogrammes"],
  ["jean@exemple.fr", "jean arobase exemple point fr"],
  ["M. Dupont et Mme Durand", "Monsieur Dupont et Madame Durand"],
  ["n° 5", "numéro cinq"],
  ["Louis XIV", "Louis quatorze"],
  ["XIXe siècle", "dix-neuvième siècle"],
  ["François Ier", "François premier"],
  ["chapitre IV", "chapitre quatre"],
  ["2e étage", "deuxième étage"],
  ["1re", "première"],
  ["etc.", "et cetera."],
  ["1999", "mille neuf cent quatre-vingt-dix-neuf"],
  ["1 £", "une livre"],
  ["1/2", "un demi"],
  ["21 minutes", "vingt et un minutes"],
  ["1 h", "une heure"]
])

table("es", [
  ["Tengo 3 gatos.", "Tengo tres gatos."],
  ["1.234.567", "un millón doscientos treinta y cuatro mil quinientos sesenta y siete"],
  ["3,14", "tres coma catorce"],
  ["-5 grados", "menos cinco grados"],
  ["el 31/12/2025", "el treinta y uno de diciembre de dos mil veinticinco"],
  ["2025-12-31", "treinta y uno de diciembre de dos mil veinticinco"],
  ["el 3 de mayo de 2025", "el tres de mayo de dos mil veinticinco"],
  ["a las 14:30", "a las catorce y treinta"],
  ["9:00 h", "nueve horas"],
  ["1:15 p. m.", "una y quince de la tarde"],
  ["3,50 €", "tres euros con cincuenta céntimos"],
  ["1 €", "un euro"],
  ["21 €", "veintiún euros"],
  ["0,99 €", "noventa y nueve céntimos"],
  ["50 %", "cincuenta por ciento"],
  ["612 345 678", "seis uno dos, tres cuatro cinco, seis siete ocho"],
  ["+34 612 345 678", "más tres cuatro, seis uno dos, tres cuatro cinco, seis siete ocho"],
  ["5 km", "cinco kilómetros"],
  ["100 km/h", "cien kilómetros por hora"],
  ["-3 °C", "menos tres grados Celsius"],
  ["16 GB", "dieciséis gigabytes"],
  ["10-20 kg", "diez a veinte kilogramos"],
  ["ana@ejemplo.es", "ana arroba ejemplo punto es"],
  ["Sr. García y Sra. López", "Señor García y Señora López"],
  ["n.º 5", "número cinco"],
  ["siglo XIX", "siglo diecinueve"],
  ["Felipe II", "Felipe segundo"],
  ["Isabel II", "Isabel segunda"],
  ["Juan Carlos I", "Juan Carlos primero"],
  ["capítulo IV", "capítulo cuatro"],
  ["2.º piso", "segundo piso"],
  ["3ª", "tercera"],
  ["1.er", "primer"],
  ["etc.", "etcétera."],
  ["EE. UU.", "Estados Unidos"],
  ["1999", "mil novecientos noventa y nueve"],
  ["1 libra", "una libra"],
  ["1 £", "una libra"],
  ["2,5 millones de euros", "dos coma cinco millones de euros"],
  ["21 horas", "veintiuna horas"],
  ["p. ej. esto", "por ejemplo esto"]
])

describe("normalise", () => {
  it("leaves a language without rules as it is, and takes a region for its language", () => {
    expect(normalise("Ho 3 gatti, 1.000 €.", "it").text).toBe("Ho 3 gatti, 1.000 €.")
    expect(normalise("3", "de-AT").text).toBe("drei")
    expect(normalise("3", "").text).toBe("3")
  })

  it("tells where each spoken stretch comes from", () => {
    const source = "Pay $3.50 to Dr. No, please."
    const { spans, text } = normalise(source, "en")
    expect(
      spans
        .filter(({ verbatim }) => !verbatim)
        .map((span) => [source.slice(span.sourceFrom, span.sourceTo), text.slice(span.from, span.to)])
    ).toEqual([
      ["$3.50", "three dollars and fifty cents"],
      ["Dr.", "Doctor"]
    ])
  })

  it.each(["en", "de", "fr", "es", "xx"])(
    "takes any text in %s: never throws, and its spans cover both sides in order",
    (language) => {
      for (let seed = 1; seed <= 600; seed++) {
        const source = nonsense(seed)
        const { spans, text } = normalise(source, language)
        let at = 0
        let sourceAt = 0
        for (const span of spans) {
          expect([span.from, span.sourceFrom]).toEqual([at, sourceAt])
          if (span.verbatim) expect(text.slice(span.from, span.to)).toBe(source.slice(span.sourceFrom, span.sourceTo))
          at = span.to
          sourceAt = span.sourceTo
        }
        expect([at, sourceAt]).toEqual([text.length, source.length])
      }
    }
  )

  it("takes long runs of anything in reasonable time", () => {
    for (const piece of ["1", "1,", "1.", "1-", "+1 ", "a@", "a.", "X", "$", "1:1", " ", "www.", "1/1"]) {
      normalise(piece.repeat(5000), "en")
      normalise(piece.repeat(5000), "de")
    }
  })
})
