// Spanish as it is read aloud.
import { toCardinal as spell, toOrdinal } from "n2words/es-ES"
import type { Gender, SpokenLanguage } from "../SpokenLanguage.ts"

const months = [
  "enero",
  "febrero",
  "marzo",
  "abril",
  "mayo",
  "junio",
  "julio",
  "agosto",
  "septiembre",
  "octubre",
  "noviembre",
  "diciembre"
]

/** The dependency leaves out the accents of the compounds. */
const toCardinal = (digits: string | number): string =>
  spell(digits)
    .replace(/dieciseis\b/g, "dieciséis")
    .replace(/veintidos\b/g, "veintidós")
    .replace(/veintitres\b/g, "veintitrés")
    .replace(/veintiseis\b/g, "veintiséis")

/** uno, veintiuno and treinta y uno lose their ending, or become feminine, in front of a noun. */
const before = (digits: string, gender: Gender): string => {
  const words = toCardinal(digits)
  if (gender === "f") return words.replace(/uno$/, "una").replace(/cientos(?=$| )/g, "cientas")
  return words.replace(/veintiuno$/, "veintiún").replace(/uno$/, "un")
}

const ordinal = (digits: string, ending: string): string => {
  const words = toOrdinal(Number(digits))
  if (/[aª]/.test(ending)) return words.replace(/o(?=$| )/g, "a")
  return /er/.test(ending) ? words.replace(/(primer|tercer)o$/, "$1") : words
}

const kings =
  "(?:Felipe|Carlos|Alfonso|Fernando|Isabel|Juan|Pablo|Luis|Enrique|Pío|Benedicto|León|Napoleón|Jorge|Guillermo|Alejandro|Catalina|Nicolás|Pedro|Jaime|Sancho)"

const nouns = (one: string, gender: Gender = "m", many = `${one}s`) => ({ one, many, gender })
const cents = nouns("céntimo")

export const spanish: SpokenLanguage = {
  cardinal: (digits) => toCardinal(digits),
  before,
  genderOf: (word) => (word.length < 3 ? undefined : /as?$/.test(word) ? "f" : "m"),
  year: (digits) => toCardinal(digits),
  decimalMark: ",",
  grouping: ".\\u00a0\\u202f ",
  point: "coma",
  fractionByDigit: false,
  minus: "menos",
  percent: "por ciento",
  to: "a",
  and: "y",
  centsJoint: "con",
  scales: {
    mil: nouns("mil", "m", "mil"),
    millón: nouns("millón", "m", "millones"),
    millones: nouns("millón", "m", "millones"),
    M: nouns("millón", "m", "millones")
  },
  scaleJoint: (noun) => `de ${noun}`,
  months,
  monthNames: { ...Object.fromEntries(months.map((name, i) => [name, i])), setiembre: 8 },
  monthFirst: false,
  date: (day, month, year) =>
    `${toCardinal(day)} de ${months[month]}${year === undefined ? "" : ` de ${toCardinal(year)}`}`,
  writtenDate:
    /(?<![\p{L}\p{N}])(?<day>\d{1,2})(?:\.?º)? de (?<month>enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|setiembre|octubre|noviembre|diciembre)(?: del? (?<year>\d{4}))?(?![\p{L}\p{N}]|[.,:]\d)/giu,
  clock:
    /(?<![\p{L}\p{N}:.,])(?<hour>[01]?\d|2[0-4]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d))?(?: ?h(?:oras)?(?![\p{L}]))?(?: ?(?<half>[ap])\. ?m\.)?(?![\p{L}\p{N}]|[:.]\d)/giu,
  time: (hour, minute, second, half) => {
    const hours = before(String(hour), "f")
    const tail = half === undefined ? "" : half === "a" ? " de la mañana" : " de la tarde"
    if (minute === undefined || minute === 0)
      return half === undefined ? `${hours}${hour === 1 ? " hora" : " horas"}` : hours + tail
    const seconds = second === undefined ? "" : ` y ${toCardinal(second)} segundos`
    return `${hours} y ${toCardinal(minute)}${seconds}${tail}`
  },
  currencies: {
    "€": { ...nouns("euro"), cent: cents },
    EUR: { ...nouns("euro"), cent: cents },
    $: { ...nouns("dólar", "m", "dólares"), cent: nouns("centavo") },
    USD: { ...nouns("dólar", "m", "dólares"), cent: nouns("centavo") },
    "£": { ...nouns("libra", "f"), cent: nouns("penique") },
    GBP: { ...nouns("libra", "f"), cent: nouns("penique") },
    CHF: { ...nouns("franco suizo", "m", "francos suizos"), cent: cents },
    MXN: { ...nouns("peso mexicano", "m", "pesos mexicanos"), cent: nouns("centavo") },
    "¥": nouns("yen", "m", "yenes")
  },
  units: {
    "km/h": nouns("kilómetro por hora", "m", "kilómetros por hora"),
    km: nouns("kilómetro"),
    m: nouns("metro"),
    cm: nouns("centímetro"),
    mm: nouns("milímetro"),
    "km²": nouns("kilómetro cuadrado", "m", "kilómetros cuadrados"),
    "m²": nouns("metro cuadrado", "m", "metros cuadrados"),
    "m³": nouns("metro cúbico", "m", "metros cúbicos"),
    kg: nouns("kilogramo"),
    g: nouns("gramo"),
    mg: nouns("miligramo"),
    t: nouns("tonelada", "f"),
    l: nouns("litro"),
    L: nouns("litro"),
    ml: nouns("mililitro"),
    "°C": nouns("grado Celsius", "m", "grados Celsius"),
    ºC: nouns("grado Celsius", "m", "grados Celsius"),
    "°F": nouns("grado Fahrenheit", "m", "grados Fahrenheit"),
    "°": nouns("grado"),
    KB: nouns("kilobyte"),
    MB: nouns("megabyte"),
    GB: nouns("gigabyte"),
    TB: nouns("terabyte"),
    Hz: nouns("hercio"),
    kHz: nouns("kilohercio"),
    MHz: nouns("megahercio"),
    GHz: nouns("gigahercio"),
    W: nouns("vatio"),
    kW: nouns("kilovatio"),
    kWh: nouns("kilovatio hora", "m", "kilovatios hora"),
    V: nouns("voltio"),
    dB: nouns("decibelio"),
    ms: nouns("milisegundo"),
    s: nouns("segundo"),
    min: nouns("minuto"),
    h: nouns("hora", "f")
  },
  ordinals: [
    [/(?<![\p{L}\p{N}.,])(\d{1,6})\.?(º|ª|er)(?![\p{L}\p{N}])/gu, (digits, match) => ordinal(digits, match[2] ?? "")]
  ],
  romans: [
    [/(?<=(?<![\p{L}])[Ss]iglo )([IVX]{1,6})(?![\p{L}\p{N}-])/gu, (digits) => toCardinal(digits)],
    [
      new RegExp(`(?<=(?<![\\p{L}])${kings} )([IVX]{1,6})(?![\\p{L}\\p{N}-])`, "gu"),
      (digits, match) => (Number(digits) > 10 ? toCardinal(digits) : ordinal(digits, queen(match) ? "a" : ""))
    ],
    [
      /(?<=(?<![\p{L}])(?:[Cc]apítulo|[Pp]arte|[Tt]omo|[Vv]olumen|[Aa]cto|[Ff]ase|[Aa]rtículo) )([IVXL]{1,7})(?![\p{L}\p{N}-])/gu,
      (digits) => toCardinal(digits)
    ]
  ],
  fractions: {
    "1/2": "un medio",
    "1/3": "un tercio",
    "2/3": "dos tercios",
    "1/4": "un cuarto",
    "3/4": "tres cuartos",
    "1/5": "un quinto",
    "1/10": "un décimo",
    "½": "medio",
    "¼": "un cuarto",
    "¾": "tres cuartos",
    "⅓": "un tercio",
    "⅔": "dos tercios"
  },
  marks: { ".": "punto", "@": "arroba", "/": "barra", "-": "guion", _: "guion bajo", ":": "dos puntos" },
  plus: "más",
  abbreviations: [
    [/(?<![\p{L}\p{N}.])Sres\.(?= \p{Lu})/gu, "Señores"],
    [/(?<![\p{L}\p{N}.])Srta\.(?= \p{Lu})/gu, "Señorita"],
    [/(?<![\p{L}\p{N}.])Sra\.(?= \p{Lu})/gu, "Señora"],
    [/(?<![\p{L}\p{N}.])Sr\.(?= \p{Lu})/gu, "Señor"],
    [/(?<![\p{L}\p{N}.])Dra\.(?= \p{Lu})/gu, "Doctora"],
    [/(?<![\p{L}\p{N}.])Dr\.(?= \p{Lu})/gu, "Doctor"],
    [/(?<![\p{L}\p{N}.])D\.ª(?= \p{Lu})|(?<![\p{L}\p{N}.])Dña\.(?= \p{Lu})/gu, "Doña"],
    [/(?<![\p{L}\p{N}.])(?:Uds|Vds)\./gu, "ustedes"],
    [/(?<![\p{L}\p{N}.])(?:Ud|Vd)\./gu, "usted"],
    [/(?<![\p{L}\p{N}.])EE\. ?UU\./gu, "Estados Unidos"],
    [/(?<![\p{L}\p{N}.])p\. ?ej\./gu, "por ejemplo"],
    [/(?<![\p{L}\p{N}.])etc(?:\.(?=,| \p{Ll})|(?=\.))/gu, "etcétera"],
    [/(?<![\p{L}\p{N}.])[Nn](?:\.º|º|°|úm\.) ?(?=\d)/gu, "número "],
    [/(?<![\p{L}\p{N}.])pág\. ?(?=\d)/gu, "página "],
    [/(?<![\p{L}\p{N}.])aprox\./gu, "aproximadamente"],
    [/(?<![\p{L}\p{N}.])Avda?\. (?=\p{Lu})/gu, "Avenida "],
    [/(?<![\p{L}\p{N}.])C\/ ?(?=\p{Lu})/gu, "calle "],
    [/(?<![\p{L}\p{N}.])[Tt]el\.:? ?(?=[\d+(])/gu, "teléfono "],
    [/(?<=\s)&(?=\s)/gu, "y"],
    [/(?<=\s)\+(?=\s)/gu, "más"],
    [/(?<=\s)=(?=\s)/gu, "igual a"]
  ]
}

function queen(match: RegExpExecArray): boolean {
  return /(?:Isabel|Catalina) $/.test(match.input.slice(0, match.index))
}
