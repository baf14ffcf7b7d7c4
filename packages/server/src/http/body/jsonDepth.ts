// How deep a JSON text nests, found by one pass without recursion, before anything is made of it: what is decoded afterwards is
// decoded recursively.

/** Deeper than any body of ours; schemas of tools are the deepest. */
export const deepestJson = 64

const quote = 0x22
const backslash = 0x5c

/** Whether lists and objects nest deeper than this in the text, which need not be JSON. */
export const nestsDeeper = (text: string, deepest: number): boolean => {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    switch (text.charCodeAt(at)) {
      case 0x5b: // [
      case 0x7b: // {
        depth += 1
        if (depth > deepest) return true
        break
      case 0x5d: // ]
      case 0x7d: // }
        depth -= 1
        break
      case quote:
        at = endOfString(text, at)
        if (at === -1) return false
    }
  }
  return false
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
