// Long utterances for models that take only so much at once: cut where it is quietest in the last third of each part.

const frame = 320

/** Parts of at most `mostSamples`, end to end, as views on `samples` (16 kHz). */
export const cutAtPauses = (samples: Int16Array, mostSamples: number): ReadonlyArray<Int16Array> => {
  const parts: Array<Int16Array> = []
  let from = 0
  while (samples.length - from > mostSamples) {
    let [quietest, at] = [Number.POSITIVE_INFINITY, from + mostSamples]
    for (let start = from + Math.floor((mostSamples * 2) / 3); start + frame <= from + mostSamples; start += frame) {
      let energy = 0
      for (let i = start; i < start + frame; i++) energy += (samples[i] ?? 0) ** 2
      if (energy < quietest) [quietest, at] = [energy, start + frame / 2]
    }
    parts.push(samples.subarray(from, at))
    from = at
  }
  parts.push(samples.subarray(from))
  return parts
}
