// German as it is read aloud.
import { toCardinal, toOrdinal } from "n2words/de-DE"
import type { SpokenLanguage } from "../SpokenLanguage.ts"

const months = [
  "Januar",
  "Februar",
  "März",
  "April",
  "Mai",
  "Juni",
  "Juli",
  "August",
  "September",
  "Oktober",
  "November",
  "Dezember"
]
const monthPattern =
  "(?<month>Januar|Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember|Jan\\.|Feb\\.|Mär\\.|Apr\\.|Jun\\.|Jul\\.|Aug\\.|Sept?\\.|Okt\\.|Nov\\.|Dez\\.)"

/** The dependency calls zero "null". */
const cardinal = (digits: string): string => toCardinal(digits)

const year = (digits: string): string => {
  const century = digits.slice(0, 2)
  if (!/^1[1-9]\d\d$/.test(digits)) return cardinal(digits)
  const rest = Number(digits.slice(2))
  return `${cardinal(century)}hundert${rest === 0 ? "" : cardinal(String(rest))}`
}

/** The ending follows the word in front: der dritte, am dritten, dritter. */
const ordinal = (digits: string | number, before: string): string => {
  const plain = toOrdinal(Number(digits))
  if (/^(?:der|die|das|dieser|diese|dieses|jede|jeder|jedes|welche|welcher)$/.test(before)) return plain
  return /^(?:am|vom|zum|zur|im|beim|dem|den|des|bis|seit|ab|ins|meinem|meinen|ihrem|ihren|jedem|jeden|diesem|diesen)$/.test(
    before
  )
    ? `${plain}n`
    : `${plain}r`
}

const kings =
  "(?:Ludwig|Heinrich|Friedrich|Wilhelm|Karl|Otto|Georg|Franz|Josef|Joseph|Leopold|Maximilian|Napoleon|Elisabeth|Katharina|Johannes|Paul|Pius|Benedikt|Leo|Philipp|Peter|Alexander|Nikolaus|Ferdinand|Rudolf|Konrad)"

export const german: SpokenLanguage = {
  cardinal,
  before: (digits, gender) => (digits === "1" ? (gender === "f" ? "eine" : "ein") : cardinal(digits)),
  genderOf: (word) => {
    if (!/^\p{Lu}/u.test(word)) return undefined
    return /(?:e|ung|heit|keit|schaft|ion|tät|ik|ur|Person|Uhr)$/.test(word) && word !== "Ende" && word !== "Uhr"
      ? "f"
      : "m"
  },
  year,
  decimalMark: ",",
  grouping: ".'’\\u00a0\\u202f ",
  point: "Komma",
  fractionByDigit: true,
  minus: "minus",
  percent: "Prozent",
  to: "bis",
  and: "und",
  centsJoint: "und",
  scales: {
    Tsd: { one: "Tausend", many: "Tausend" },
    "Tsd.": { one: "Tausend", many: "Tausend" },
    Mio: { one: "Million", many: "Millionen", gender: "f" },
    "Mio.": { one: "Million", many: "Millionen", gender: "f" },
    Million: { one: "Million", many: "Millionen", gender: "f" },
    Millionen: { one: "Million", many: "Millionen", gender: "f" },
    Mrd: { one: "Milliarde", many: "Milliarden", gender: "f" },
    "Mrd.": { one: "Milliarde", many: "Milliarden", gender: "f" },
    Milliarde: { one: "Milliarde", many: "Milliarden", gender: "f" },
    Milliarden: { one: "Milliarde", many: "Milliarden", gender: "f" }
  },
  scaleJoint: (noun) => noun,
  months,
  monthNames: {
    ...Object.fromEntries(months.map((name, i) => [name.toLowerCase(), i])),
    ...Object.fromEntries(months.map((name, i) => [name.slice(0, 3).toLowerCase(), i])),
    jänner: 0,
    sept: 8
  },
  monthFirst: false,
  date: (day, month, written, before) =>
    `${ordinal(day, before)} ${months[month]}${written === undefined ? "" : ` ${year(written)}`}`,
  writtenDate: new RegExp(
    `(?<![\\p{L}\\p{N}])(?<day>\\d{1,2})\\.? ${monthPattern}(?: (?<year>\\d{4}))?(?![\\p{L}\\p{N}]|[.,:]\\d)`,
    "gu"
  ),
  clock:
    /(?<![\p{L}\p{N}:.,])(?<hour>[01]?\d|2[0-4])[:.](?<minute>[0-5]\d)(?:(?<=:\d\d):(?<second>[0-5]\d))?(?:(?<=:\d\d|:\d\d:\d\d)| ?(?=Uhr))(?: ?(?:Uhr|h))?(?![\p{L}\p{N}]|[:.]\d)/gu,
  time: (hour, minute, second) => {
    const hours = hour === 1 ? "ein" : cardinal(String(hour))
    const minutes = minute === undefined || (minute === 0 && second === undefined) ? "" : ` ${cardinal(String(minute))}`
    const seconds =
      second === undefined ? "" : ` und ${second === 1 ? "eine Sekunde" : `${cardinal(String(second))} Sekunden`}`
    return `${hours} Uhr${minutes}${seconds}`
  },
  currencies: {
    "€": { one: "Euro", many: "Euro", cent: { one: "Cent", many: "Cent" } },
    EUR: { one: "Euro", many: "Euro", cent: { one: "Cent", many: "Cent" } },
    Euro: { one: "Euro", many: "Euro", cent: { one: "Cent", many: "Cent" } },
    $: { one: "Dollar", many: "Dollar", cent: { one: "Cent", many: "Cent" } },
    USD: { one: "US-Dollar", many: "US-Dollar", cent: { one: "Cent", many: "Cent" } },
    "£": { one: "Pfund", many: "Pfund", gender: "n", cent: { one: "Penny", many: "Pence" } },
    GBP: { one: "Pfund", many: "Pfund", gender: "n", cent: { one: "Penny", many: "Pence" } },
    CHF: { one: "Schweizer Franken", many: "Schweizer Franken", cent: { one: "Rappen", many: "Rappen" } },
    "¥": { one: "Yen", many: "Yen" },
    ct: { one: "Cent", many: "Cent" }
  },
  units: {
    "km/h": { one: "Kilometer pro Stunde", many: "Kilometer pro Stunde" },
    km: { one: "Kilometer", many: "Kilometer" },
    m: { one: "Meter", many: "Meter" },
    cm: { one: "Zentimeter", many: "Zentimeter" },
    mm: { one: "Millimeter", many: "Millimeter" },
    "km²": { one: "Quadratkilometer", many: "Quadratkilometer" },
    "m²": { one: "Quadratmeter", many: "Quadratmeter" },
    qm: { one: "Quadratmeter", many: "Quadratmeter" },
    "m³": { one: "Kubikmeter", many: "Kubikmeter" },
    kg: { one: "Kilogramm", many: "Kilogramm" },
    g: { one: "Gramm", many: "Gramm" },
    mg: { one: "Milligramm", many: "Milligramm" },
    t: { one: "Tonne", many: "Tonnen", gender: "f" },
    l: { one: "Liter", many: "Liter" },
    L: { one: "Liter", many: "Liter" },
    ml: { one: "Milliliter", many: "Milliliter" },
    "°C": { one: "Grad Celsius", many: "Grad Celsius" },
    "°F": { one: "Grad Fahrenheit", many: "Grad Fahrenheit" },
    "°": { one: "Grad", many: "Grad" },
    kB: { one: "Kilobyte", many: "Kilobyte" },
    KB: { one: "Kilobyte", many: "Kilobyte" },
    MB: { one: "Megabyte", many: "Megabyte" },
    GB: { one: "Gigabyte", many: "Gigabyte" },
    TB: { one: "Terabyte", many: "Terabyte" },
    "Mbit/s": { one: "Megabit pro Sekunde", many: "Megabit pro Sekunde" },
    Hz: { one: "Hertz", many: "Hertz" },
    kHz: { one: "Kilohertz", many: "Kilohertz" },
    MHz: { one: "Megahertz", many: "Megahertz" },
    GHz: { one: "Gigahertz", many: "Gigahertz" },
    W: { one: "Watt", many: "Watt" },
    kW: { one: "Kilowatt", many: "Kilowatt" },
    kWh: { one: "Kilowattstunde", many: "Kilowattstunden", gender: "f" },
    V: { one: "Volt", many: "Volt" },
    dB: { one: "Dezibel", many: "Dezibel" },
    PS: { one: "P S", many: "P S" },
    ms: { one: "Millisekunde", many: "Millisekunden", gender: "f" },
    Sek: { one: "Sekunde", many: "Sekunden", gender: "f" },
    "Sek.": { one: "Sekunde", many: "Sekunden", gender: "f" },
    min: { one: "Minute", many: "Minuten", gender: "f" },
    "Min.": { one: "Minute", many: "Minuten", gender: "f" },
    h: { one: "Stunde", many: "Stunden", gender: "f" },
    "Std.": { one: "Stunde", many: "Stunden", gender: "f" },
    Uhr: { one: "Uhr", many: "Uhr" }
  },
  ordinals: [
    [
      /(?<=(?<![\p{L}])(der|die|das|dem|den|des|am|im|vom|zum|zur|beim|jeder|jede|jedes|jedem|jeden) )(\d{1,3})\.(?= \p{L})/giu,
      (before, match) => ordinal(match[2] ?? "", before.toLowerCase())
    ],
    [/(?<![\p{L}\p{N}.,])((?:1[1-9]|20)\d0)er(?![\p{L}\p{N}])/gu, (digits) => `${year(digits)}er`]
  ],
  romans: [
    [
      new RegExp(`(?<=(?<![\\p{L}])${kings} )([IVX]{1,6})\\.(?= \\p{Ll}|[,;:!?]|$)`, "gu"),
      (digits) => `der ${capital(toOrdinal(Number(digits)))}`
    ],
    [
      new RegExp(`(?<=(?<![\\p{L}])${kings} )([IVX]{1,6})(?![\\p{L}\\p{N}])`, "gu"),
      (digits) => `der ${capital(toOrdinal(Number(digits)))}`
    ],
    [
      /(?<=(?<![\p{L}])(?:Kapitel|Teil|Band|Akt|Phase|Artikel|Weltkrieg) )([IVXL]{1,7})(?![\p{L}\p{N}])/gu,
      (digits) => cardinal(digits)
    ]
  ],
  fractions: {
    "1/2": "ein halb",
    "1/3": "ein Drittel",
    "2/3": "zwei Drittel",
    "1/4": "ein Viertel",
    "3/4": "drei Viertel",
    "1/5": "ein Fünftel",
    "1/8": "ein Achtel",
    "1/10": "ein Zehntel",
    "½": "ein halb",
    "¼": "ein Viertel",
    "¾": "drei Viertel",
    "⅓": "ein Drittel",
    "⅔": "zwei Drittel"
  },
  marks: { ".": "Punkt", "@": "ät", "/": "Schrägstrich", "-": "Bindestrich", _: "Unterstrich", ":": "Doppelpunkt" },
  plus: "plus",
  abbreviations: [
    [/(?<![\p{L}\p{N}.])z\. ?B\./gu, "zum Beispiel"],
    [/(?<![\p{L}\p{N}.])Z\. ?B\./gu, "Zum Beispiel"],
    [/(?<![\p{L}\p{N}.])d\. ?h\./gu, "das heißt"],
    [/(?<![\p{L}\p{N}.])u\. ?a\./gu, "unter anderem"],
    [/(?<![\p{L}\p{N}.])v\. ?a\./gu, "vor allem"],
    [/(?<![\p{L}\p{N}.])i\. ?d\. ?R\./gu, "in der Regel"],
    [/(?<![\p{L}\p{N}.])o\. ?Ä\./gu, "oder Ähnliches"],
    [/(?<![\p{L}\p{N}.])u\. ?U\./gu, "unter Umständen"],
    [/(?<![\p{L}\p{N}.])usw(?:\.(?=,| \p{Ll})|(?=\.))/gu, "und so weiter"],
    [/(?<![\p{L}\p{N}.])etc(?:\.(?=,| \p{Ll})|(?=\.))/gu, "et cetera"],
    [/(?<![\p{L}\p{N}.])bzw\./gu, "beziehungsweise"],
    [/(?<![\p{L}\p{N}.])ca\./gu, "circa"],
    [/(?<![\p{L}\p{N}.])evtl\./gu, "eventuell"],
    [/(?<![\p{L}\p{N}.])ggf\./gu, "gegebenenfalls"],
    [/(?<![\p{L}\p{N}.])inkl\./gu, "inklusive"],
    [/(?<![\p{L}\p{N}.])zzgl\./gu, "zuzüglich"],
    [/(?<![\p{L}\p{N}.])vgl\./gu, "vergleiche"],
    [/(?<![\p{L}\p{N}.])max\.(?= )/gu, "maximal"],
    [/(?<![\p{L}\p{N}.])Dr\.(?= \p{Lu})/gu, "Doktor"],
    [/(?<![\p{L}\p{N}.])Prof\.(?= \p{Lu})/gu, "Professor"],
    [/(?<![\p{L}\p{N}.])Hr\.(?= \p{Lu})/gu, "Herr"],
    [/(?<![\p{L}\p{N}.])Fr\.(?= \p{Lu})/gu, "Frau"],
    [/(?<![\p{L}\p{N}.])St\.(?= \p{Lu})/gu, "Sankt"],
    [/(?<![\p{L}\p{N}.])Nr\. ?(?=\d)/gu, "Nummer "],
    [/(?<![\p{L}\p{N}.])Tel\.:? ?(?=[\d+(])/gu, "Telefon "],
    [/(?<![\p{L}\p{N}.])Abs\. ?(?=\d)/gu, "Absatz "],
    [/(?<![\p{L}\p{N}.])S\. ?(?=\d)/gu, "Seite "],
    [/(?<=\p{Ll})str\.(?= |,|$)/gu, "straße"],
    [/(?<=\p{L}[ -])Str\.(?= |,|$)/gu, "Straße"],
    [/§ ?(?=\d)/gu, "Paragraf "],
    [/(?<=\s)&(?=\s)/gu, "und"],
    [/(?<=\s)\+(?=\s)/gu, "plus"],
    [/(?<=\s)=(?=\s)/gu, "gleich"],
    [/(?<=\d )Mio\./gu, "Millionen"],
    [/(?<=\d )Mrd\./gu, "Milliarden"]
  ]
}

function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1)
}
