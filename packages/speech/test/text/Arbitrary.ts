// Reproducible nonsense: texts out of pieces that matter to rules (numbers, marks, tags) and out of any code unit.

export const makeRandom = (seed: number) => {
  let state = seed >>> 0
  const next = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const pick = <A>(from: ReadonlyArray<A>): A => from[next(from.length)]!
  return { next, pick }
}

const pieces =
  "Hello|world.|Dr. |3.14|1,000,000|1.234,56| |  |\n|\n\n|?!|“Really?” |<|:|<|speaker:1|>|[softly]|(happy)|[|]|(|)|$3.50|€|%|12:30|2025-12-31|31.12.2025|https://a.b/c?d=e|a_b@c.de|+1 (555) 010-9999|–|…|日本語。|👩‍👩‍👧|e\u0301|\u0000|\uD83D|\uDE00|Louis XIV|XXI|1-3 kg|°C|№|½|-5|,,,|...|—".split(
    "|"
  )

export const nonsense = (seed: number): string => {
  const { next, pick } = makeRandom(seed)
  return Array.from({ length: next(40) }, () => {
    const kind = next(12)
    if (kind === 0) return String.fromCharCode(next(65_536))
    if (kind === 1) return String.fromCodePoint(next(0x10ffff))
    if (kind === 2) return "<|speaker:" + next(3) + "|>"
    if (kind === 3) return String(next(10 ** next(12)))
    return pick(pieces)
  }).join(next(2) === 0 ? " " : "")
}
