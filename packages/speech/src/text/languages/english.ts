// English as it is read aloud, with American dates.
import { toCardinal, toOrdinal } from "n2words/en-US"
import type { SpokenLanguage } from "../SpokenLanguage.ts"

const months = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December"
]
const monthPattern =
  "(?<month>January|February|March|April|May|June|July|August|September|October|November|December|Jan\\.?|Feb\\.?|Mar\\.?|Apr\\.?|Jun\\.?|Jul\\.?|Aug\\.?|Sept?\\.?|Oct\\.?|Nov\\.?|Dec\\.?)"

const year = (digits: string): string => {
  const [century, rest] = [digits.slice(0, -2), digits.slice(-2)]
  if (digits.length !== 4 || /^\d00/.test(digits)) return toCardinal(digits)
  if (rest === "00") return `${toCardinal(century)} hundred`
  return `${toCardinal(century)} ${rest.startsWith("0") ? `oh ${toCardinal(rest.slice(1))}` : toCardinal(rest)}`
}

const small = (minute: number): string => (minute < 10 ? `oh ${toCardinal(minute)}` : toCardinal(minute))

const kings =
  "(?:Louis|Henry|George|Elizabeth|Charles|Edward|William|Richard|James|Philip|Francis|Napoleon|Pius|Paul|Benedict|Leo|Alexander|Catherine|Nicholas|Frederick|Wilhelm|Gregory|Ramses|Rameses|Peter|Ivan|Innocent|Gustav|Christian|Leopold|Carlos|Mary)"

export const english: SpokenLanguage = {
  cardinal: (digits) => toCardinal(digits),
  before: (digits) => toCardinal(digits),
  year,
  decimalMark: ".",
  grouping: ",",
  point: "point",
  fractionByDigit: true,
  minus: "minus",
  percent: "percent",
  to: "to",
  and: "and",
  centsJoint: "and",
  scales: {
    thousand: { one: "thousand", many: "thousand" },
    million: { one: "million", many: "million" },
    billion: { one: "billion", many: "billion" },
    trillion: { one: "trillion", many: "trillion" },
    K: { one: "thousand", many: "thousand" },
    k: { one: "thousand", many: "thousand" },
    M: { one: "million", many: "million" },
    m: { one: "million", many: "million" },
    B: { one: "billion", many: "billion" },
    bn: { one: "billion", many: "billion" }
  },
  scaleJoint: (noun) => noun,
  months,
  monthNames: {
    ...Object.fromEntries(months.map((name, i) => [name.toLowerCase(), i])),
    ...Object.fromEntries(months.map((name, i) => [name.slice(0, 3).toLowerCase(), i])),
    sept: 8
  },
  monthFirst: true,
  date: (day, month, written, before) => {
    const name = before === "the" ? `${toOrdinal(day)} of ${months[month]}` : `${months[month]} ${toOrdinal(day)}`
    return written === undefined ? name : `${name}, ${year(written)}`
  },
  writtenDate: new RegExp(
    `(?<![\\p{L}\\p{N}])(?:${monthPattern} (?<day>\\d{1,2})(?:st|nd|rd|th)?(?:,? (?<year>\\d{4}))?|(?<day>\\d{1,2})(?:st|nd|rd|th)? (?:of )?${monthPattern}(?:,? (?<year>\\d{4}))?)(?![\\p{L}\\p{N}]|[.,:]\\d)`,
    "gu"
  ),
  clock:
    /(?<![\p{L}\p{N}:.,])(?:(?<hour>[01]?\d|2[0-4]):(?<minute>[0-5]\d)(?::(?<second>[0-5]\d))?(?:\s?(?<half>[ap])\.?m\b\.?)?|(?<hour>1[0-2]|0?[1-9])\s?(?<half>[ap])\.?m\b\.?)(?![\p{L}\p{N}]|[:.]\d)/giu,
  time: (hour, minute, second, half) => {
    const tail = half === undefined ? "" : ` ${half} m`
    const seconds = second === undefined ? "" : ` and ${toCardinal(second)} second${second === 1 ? "" : "s"}`
    if (minute === undefined) return `${toCardinal(hour)}${tail}`
    if (minute === 0 && seconds === "") {
      if (half !== undefined) return `${toCardinal(hour)}${tail}`
      return hour > 0 && hour <= 12 ? `${toCardinal(hour)} o'clock` : `${toCardinal(hour)} hundred`
    }
    return `${toCardinal(hour)} ${small(minute)}${seconds}${tail}`
  },
  currencies: {
    $: { one: "dollar", many: "dollars", cent: { one: "cent", many: "cents" } },
    US$: { one: "US dollar", many: "US dollars", cent: { one: "cent", many: "cents" } },
    USD: { one: "US dollar", many: "US dollars", cent: { one: "cent", many: "cents" } },
    "€": { one: "euro", many: "euros", cent: { one: "cent", many: "cents" } },
    EUR: { one: "euro", many: "euros", cent: { one: "cent", many: "cents" } },
    "£": { one: "pound", many: "pounds", cent: { one: "penny", many: "pence" } },
    GBP: { one: "pound", many: "pounds", cent: { one: "penny", many: "pence" } },
    "¥": { one: "yen", many: "yen" },
    JPY: { one: "yen", many: "yen" },
    CHF: { one: "Swiss franc", many: "Swiss francs" },
    "¢": { one: "cent", many: "cents" }
  },
  units: {
    "km/h": { one: "kilometer per hour", many: "kilometers per hour" },
    mph: { one: "mile per hour", many: "miles per hour" },
    km: { one: "kilometer", many: "kilometers" },
    m: { one: "meter", many: "meters" },
    cm: { one: "centimeter", many: "centimeters" },
    mm: { one: "millimeter", many: "millimeters" },
    "km²": { one: "square kilometer", many: "square kilometers" },
    "m²": { one: "square meter", many: "square meters" },
    "m³": { one: "cubic meter", many: "cubic meters" },
    mi: { one: "mile", many: "miles" },
    ft: { one: "foot", many: "feet" },
    yd: { one: "yard", many: "yards" },
    kg: { one: "kilogram", many: "kilograms" },
    g: { one: "gram", many: "grams" },
    mg: { one: "milligram", many: "milligrams" },
    lb: { one: "pound", many: "pounds" },
    lbs: { one: "pound", many: "pounds" },
    oz: { one: "ounce", many: "ounces" },
    L: { one: "liter", many: "liters" },
    l: { one: "liter", many: "liters" },
    ml: { one: "milliliter", many: "milliliters" },
    mL: { one: "milliliter", many: "milliliters" },
    "°C": { one: "degree Celsius", many: "degrees Celsius" },
    "°F": { one: "degree Fahrenheit", many: "degrees Fahrenheit" },
    "°": { one: "degree", many: "degrees" },
    kB: { one: "kilobyte", many: "kilobytes" },
    KB: { one: "kilobyte", many: "kilobytes" },
    MB: { one: "megabyte", many: "megabytes" },
    GB: { one: "gigabyte", many: "gigabytes" },
    TB: { one: "terabyte", many: "terabytes" },
    "Mbit/s": { one: "megabit per second", many: "megabits per second" },
    Mbps: { one: "megabit per second", many: "megabits per second" },
    Hz: { one: "hertz", many: "hertz" },
    kHz: { one: "kilohertz", many: "kilohertz" },
    MHz: { one: "megahertz", many: "megahertz" },
    GHz: { one: "gigahertz", many: "gigahertz" },
    W: { one: "watt", many: "watts" },
    kW: { one: "kilowatt", many: "kilowatts" },
    kWh: { one: "kilowatt hour", many: "kilowatt hours" },
    V: { one: "volt", many: "volts" },
    dB: { one: "decibel", many: "decibels" },
    ms: { one: "millisecond", many: "milliseconds" },
    sec: { one: "second", many: "seconds" },
    min: { one: "minute", many: "minutes" },
    h: { one: "hour", many: "hours" },
    hr: { one: "hour", many: "hours" },
    hrs: { one: "hour", many: "hours" }
  },
  ordinals: [
    [/(?<![\p{L}\p{N}.,])(\d{1,9})(?:st|nd|rd|th)(?![\p{L}\p{N}])/gu, (digits) => toOrdinal(digits)],
    [/(?<![\p{L}\p{N}.,])((?:1[1-9]|20)\d0)s(?![\p{L}\p{N}])/gu, (digits) => `${year(digits)}s`.replace(/ys$/, "ies")]
  ],
  romans: [
    [
      new RegExp(`(?<=(?<![\\p{L}])${kings} )([IVX]{1,6})(?![\\p{L}\\p{N}'’-]|\\.\\p{L})`, "gu"),
      (digits) => `the ${toOrdinal(digits)}`
    ],
    [
      /(?<=(?<![\p{L}])(?:World War|Chapter|Part|Volume|Act|Phase|Section|Article|Book|Appendix) )([IVXL]{1,7})(?![\p{L}\p{N}'’-])/gu,
      (digits) => toCardinal(digits)
    ],
    [/(?<![\p{L}\p{N}])([IVX]{1,6})(?:th|st|nd|rd)?(?= [Cc]entur)/gu, (digits) => toOrdinal(digits)]
  ],
  fractions: {
    "1/2": "one half",
    "1/3": "one third",
    "2/3": "two thirds",
    "1/4": "one quarter",
    "3/4": "three quarters",
    "1/5": "one fifth",
    "1/8": "one eighth",
    "1/10": "one tenth",
    "½": "a half",
    "¼": "a quarter",
    "¾": "three quarters",
    "⅓": "a third",
    "⅔": "two thirds"
  },
  marks: { ".": "dot", "@": "at", "/": "slash", "-": "dash", _: "underscore", ":": "colon" },
  plus: "plus",
  abbreviations: [
    [/(?<![\p{L}\p{N}.])Dr\.?(?= \p{Lu})/gu, "Doctor"],
    [/(?<![\p{L}\p{N}.])Mr(?:\.(?= )|(?= \p{Lu}))/gu, "Mister"],
    [/(?<![\p{L}\p{N}.])Mrs\.?(?= \p{Lu})/gu, "Missus"],
    [/(?<![\p{L}\p{N}.])Ms\.?(?= \p{Lu})/gu, "Miz"],
    [/(?<![\p{L}\p{N}.])Prof\.(?= \p{Lu})/gu, "Professor"],
    [/(?<![\p{L}\p{N}.])St\.(?= \p{Lu})/gu, "Saint"],
    [/(?<=\p{L} )St\.(?! \p{Lu})/gu, "Street"],
    [/(?<=\p{L} )Ave\./gu, "Avenue"],
    [/(?<=\p{L} )Blvd\./gu, "Boulevard"],
    [/(?<![\p{L}\p{N}.])Mt\.(?= \p{Lu})/gu, "Mount"],
    [/(?<![\p{L}\p{N}.])Gen\.(?= \p{Lu})/gu, "General"],
    [/(?<![\p{L}\p{N}.])Sen\.(?= \p{Lu})/gu, "Senator"],
    [/(?<![\p{L}\p{N}.])Capt\.(?= \p{Lu})/gu, "Captain"],
    [/(?<=\p{L},? )Jr\.?(?!\p{L})/gu, "Junior"],
    [/(?<=\p{L},? )Sr\.(?!\p{L})/gu, "Senior"],
    [/(?<![\p{L}\p{N}.])[Nn]os?\. ?(?=\d)/gu, "number "],
    [/(?<![\p{L}\p{N}])#(?=\d)/gu, "number "],
    [/(?<![\p{L}\p{N}.])vs\.?(?!\p{L})/gu, "versus"],
    [/(?<![\p{L}\p{N}.])e\.g\./gu, "for example"],
    [/(?<![\p{L}\p{N}.])i\.e\./gu, "that is"],
    [/(?<![\p{L}\p{N}.])etc(?:\.(?=,| \p{Ll})|(?=\.))/gu, "et cetera"],
    [/(?<![\p{L}\p{N}.])approx\./giu, "approximately"],
    [/(?<![\p{L}\p{N}.])dept\./giu, "department"],
    [/(?<![\p{L}\p{N}.])[Vv]ol\. ?(?=\d)/gu, "volume "],
    [/(?<![\p{L}\p{N}.])[Ff]ig\. ?(?=\d)/gu, "figure "],
    [/(?<![\p{L}\p{N}.])pp?\. ?(?=\d)/gu, "page "],
    [/(?<=\s)&(?=\s)/gu, "and"],
    [/(?<=\s)\+(?=\s)/gu, "plus"],
    [/(?<=\s)=(?=\s)/gu, "equals"],
    [/(?<=\s)@(?=\s)/gu, "at"]
  ]
}
