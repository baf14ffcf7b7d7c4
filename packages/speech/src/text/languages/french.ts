// French as it is read aloud.
import { toCardinal, toOrdinal } from "n2words/fr-FR"
import type { Gender, SpokenLanguage } from "../SpokenLanguage.ts"

const months = [
  "janvier",
  "février",
  "mars",
  "avril",
  "mai",
  "juin",
  "juillet",
  "août",
  "septembre",
  "octobre",
  "novembre",
  "décembre"
]

const before = (digits: string, gender: Gender): string => {
  const words = toCardinal(digits)
  return gender === "f" ? words.replace(/(?<=^|\bet |-)un$/u, "une") : words
}

const ordinal = (digits: string, ending: string): string => {
  if (digits !== "1") return toOrdinal(Number(digits))
  return /^(?:re|ère)/.test(ending) ? "première" : "premier"
}

const kings =
  "(?:Louis|Henri|Charles|François|Philippe|Napoléon|Élisabeth|Elisabeth|Jean|Paul|Pie|Benoît|Léon|Georges|Guillaume|Édouard|Alexandre|Catherine|Nicolas|Frédéric|Pierre)"

const nouns = (one: string, gender: Gender = "m", many = `${one}s`) => ({ one, many, gender })
const cent = nouns("centime")

export const french: SpokenLanguage = {
  cardinal: (digits) => toCardinal(digits),
  before,
  year: (digits) => toCardinal(digits),
  decimalMark: ",",
  grouping: ".\\u00a0\\u202f ",
  point: "virgule",
  fractionByDigit: false,
  minus: "moins",
  percent: "pour cent",
  to: "à",
  and: "et",
  centsJoint: "et",
  scales: {
    million: nouns("million"),
    millions: nouns("million"),
    milliard: nouns("milliard"),
    milliards: nouns("milliard"),
    M: nouns("million")
  },
  scaleJoint: (noun) => (/^[aeiouyéh]/.test(noun) ? `d'${noun}` : `de ${noun}`),
  months,
  monthNames: {
    ...Object.fromEntries(months.map((name, i) => [name, i])),
    janv: 0,
    févr: 1,
    avr: 3,
    juil: 6,
    sept: 8,
    oct: 9,
    nov: 10,
    déc: 11
  },
  monthFirst: false,
  date: (day, month, year) =>
    `${day === 1 ? "premier" : toCardinal(day)} ${months[month]}${year === undefined ? "" : ` ${toCardinal(year)}`}`,
  writtenDate:
    /(?<![\p{L}\p{N}])(?<day>\d{1,2})(?:er)? (?<month>janvier|février|mars|avril|mai|juin|juillet|août|septembre|octobre|novembre|décembre|janv\.|févr\.|avr\.|juil\.|sept\.|oct\.|nov\.|déc\.)(?: (?<year>\d{4}))?(?![\p{L}\p{N}]|[.,:]\d)/giu,
  clock:
    /(?<![\p{L}\p{N}:.,])(?<hour>[01]?\d|2[0-4])(?: ?h ?|:)(?<minute>[0-5]\d)(?:(?<=:\d\d):(?<second>[0-5]\d))?(?![\p{L}\p{N}]|[:.]\d)/gu,
  time: (hour, minute, second) => {
    const hours = `${before(String(hour), "f")} heure${hour > 1 ? "s" : ""}`
    const minutes = minute === undefined || minute === 0 ? "" : ` ${before(String(minute), "f")}`
    return second === undefined
      ? hours + minutes
      : `${hours}${minutes} et ${before(String(second), "f")} seconde${second > 1 ? "s" : ""}`
  },
  currencies: {
    "€": { ...nouns("euro"), cent },
    EUR: { ...nouns("euro"), cent },
    $: { ...nouns("dollar"), cent: nouns("cent") },
    USD: { ...nouns("dollar"), cent: nouns("cent") },
    "£": { ...nouns("livre", "f"), cent: nouns("penny", "m", "pence") },
    GBP: { ...nouns("livre", "f"), cent: nouns("penny", "m", "pence") },
    CHF: { ...nouns("franc suisse", "m", "francs suisses"), cent },
    "¥": nouns("yen")
  },
  units: {
    "km/h": nouns("kilomètre heure", "m", "kilomètres heure"),
    km: nouns("kilomètre"),
    m: nouns("mètre"),
    cm: nouns("centimètre"),
    mm: nouns("millimètre"),
    "km²": nouns("kilomètre carré", "m", "kilomètres carrés"),
    "m²": nouns("mètre carré", "m", "mètres carrés"),
    "m³": nouns("mètre cube", "m", "mètres cubes"),
    kg: nouns("kilogramme"),
    g: nouns("gramme"),
    mg: nouns("milligramme"),
    t: nouns("tonne", "f"),
    l: nouns("litre"),
    L: nouns("litre"),
    ml: nouns("millilitre"),
    "°C": nouns("degré Celsius", "m", "degrés Celsius"),
    "°F": nouns("degré Fahrenheit", "m", "degrés Fahrenheit"),
    "°": nouns("degré"),
    ko: nouns("kilooctet"),
    Mo: nouns("mégaoctet"),
    Go: nouns("gigaoctet"),
    To: nouns("téraoctet"),
    MB: nouns("mégaoctet"),
    GB: nouns("gigaoctet"),
    Hz: nouns("hertz", "m", "hertz"),
    kHz: nouns("kilohertz", "m", "kilohertz"),
    MHz: nouns("mégahertz", "m", "mégahertz"),
    GHz: nouns("gigahertz", "m", "gigahertz"),
    W: nouns("watt"),
    kW: nouns("kilowatt"),
    kWh: nouns("kilowattheure"),
    V: nouns("volt"),
    dB: nouns("décibel"),
    ms: nouns("milliseconde", "f"),
    s: nouns("seconde", "f"),
    min: nouns("minute", "f"),
    h: nouns("heure", "f")
  },
  ordinals: [
    [
      /(?<![\p{L}\p{N}.,])(\d{1,6})(ère|ere|re|er|ème|eme|ième|nde|nd|e)(?![\p{L}\p{N}])/gu,
      (digits, match) => ordinal(digits, match[2] ?? "")
    ]
  ],
  romans: [
    [/(?<![\p{L}\p{N}])([IVX]{1,6})(?:e|ème|er|ième)(?= siècle)/gu, (digits) => ordinal(digits, "")],
    [
      new RegExp(`(?<=(?<![\\p{L}])${kings} )([IVX]{1,6})(?:er)?(?![\\p{L}\\p{N}'’-])`, "gu"),
      (digits) => (digits === "1" ? "premier" : toCardinal(digits))
    ],
    [
      /(?<=(?<![\p{L}])(?:[Cc]hapitre|[Pp]artie|[Tt]ome|[Vv]olume|[Aa]cte|[Pp]hase|[Aa]rticle) )([IVXL]{1,7})(?![\p{L}\p{N}'’-])/gu,
      (digits) => toCardinal(digits)
    ]
  ],
  fractions: {
    "1/2": "un demi",
    "1/3": "un tiers",
    "2/3": "deux tiers",
    "1/4": "un quart",
    "3/4": "trois quarts",
    "1/5": "un cinquième",
    "1/10": "un dixième",
    "½": "un demi",
    "¼": "un quart",
    "¾": "trois quarts",
    "⅓": "un tiers",
    "⅔": "deux tiers"
  },
  marks: { ".": "point", "@": "arobase", "/": "barre oblique", "-": "tiret", _: "tiret bas", ":": "deux-points" },
  plus: "plus",
  abbreviations: [
    [/(?<![\p{L}\p{N}.])MM\.(?= \p{Lu})/gu, "Messieurs"],
    [/(?<![\p{L}\p{N}.'’])M\.(?= \p{Lu}\p{Ll})/gu, "Monsieur"],
    [/(?<![\p{L}\p{N}.])Mmes(?= \p{Lu})/gu, "Mesdames"],
    [/(?<![\p{L}\p{N}.])Mme\.?(?= \p{Lu})/gu, "Madame"],
    [/(?<![\p{L}\p{N}.])Mlle\.?(?= \p{Lu})/gu, "Mademoiselle"],
    [/(?<![\p{L}\p{N}.])Dr\.?(?= \p{Lu})/gu, "Docteur"],
    [/(?<![\p{L}\p{N}.])Pr\.?(?= \p{Lu})/gu, "Professeur"],
    [/(?<![\p{L}\p{N}.])[Nn][°º] ?(?=\d)/gu, "numéro "],
    [/(?<![\p{L}\p{N}.])etc(?:\.(?=,| \p{Ll})|(?=\.))/gu, "et cetera"],
    [/(?<![\p{L}\p{N}.])p\. ?ex\./gu, "par exemple"],
    [/(?<![\p{L}\p{N}.])c\.-à-d\./gu, "c'est-à-dire"],
    [/(?<![\p{L}\p{N}.])env\.(?= )/gu, "environ"],
    [/(?<![\p{L}\p{N}.])av\. (?=\p{Lu})/gu, "avenue "],
    [/(?<![\p{L}\p{N}.])bd\.? (?=\p{Lu})/gu, "boulevard "],
    [/(?<![\p{L}\p{N}.])[Tt]él\.? ?: ?(?=[\d+(])/gu, "téléphone "],
    [/(?<![\p{L}\p{N}.])p\. ?(?=\d)/gu, "page "],
    [/(?<=\s)&(?=\s)/gu, "et"],
    [/(?<=\s)\+(?=\s)/gu, "plus"],
    [/(?<=\s)=(?=\s)/gu, "égale"]
  ]
}
