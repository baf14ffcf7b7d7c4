// How deep a JSON text nests and how many values it holds, found by one pass without recursion, before anything is made of it:
// decoding is recursive, and takes its time for each value while everybody else waits.

/** What a JSON text may hold. */
interface JsonBounds {
  readonly levels: number
  readonly values: number
}

/** More than any body of ours; schemas of tools are the deepest, metadata has the most values. */
const jsonBounds: JsonBounds = { levels: 64, values: 50_000 }

const quote = 0x22
const backslash = 0x5c

/** What is wrong with the text, which need not be JSON; undefined when it is within the bounds. */
export const jsonExcess = (text: string, { levels, values }: JsonBounds = jsonBounds): string | undefined => {
  let depth = 0
  let commas = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > levels) return `The JSON nests deeper than ${levels} levels`
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
      case 0x2c: // ,
        commas += 1
        if (commas >= values) return `The JSON holds more than ${values} values`
        break
      case quote:
        at = endOfString(text, at)
        if (at === -1) return undefined
    }
  }
  return undefined
}

/** Of the string that begins at `from`: where its closing quote is, or -1. */
const endOfString = (text: string, from: number): number => {
  for (let end = text.indexOf('"', from + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0
    while (text.charCodeAt(end - 1 - backslashes) === backslash) backslashes += 1
    if (backslashes % 2 === 0) return end
  }
  return -1
}
