// Two rankings made one: what stands high in either stands high (reciprocal rank fusion, Cormack, Clarke and Buettcher,
// SIGIR 2009). Pure.

/** Dampens the lead of the first; the paper's value. */
const damping = 60

/** Best first; what is the same has the same key. */
export const fused = <A>(rankings: ReadonlyArray<ReadonlyArray<A>>, keyOf: (item: A) => string): ReadonlyArray<A> => {
  const scores = new Map<string, { readonly item: A; score: number }>()
  for (const ranking of rankings) {
    for (const [rank, item] of ranking.entries()) {
      const known = scores.get(keyOf(item))
      const share = 1 / (damping + rank + 1)
      if (known === undefined) scores.set(keyOf(item), { item, score: share })
      else known.score += share
    }
  }
  return [...scores.values()].toSorted((a, b) => b.score - a.score).map(({ item }) => item)
}
