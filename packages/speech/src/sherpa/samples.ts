// 16-bit samples as the engines' floats, and back.

/** To -1 up to 1. */
export const toFloats = (samples: Int16Array): Float32Array => {
  const out = new Float32Array(samples.length)
  for (let i = 0; i < out.length; i++) out[i] = (samples[i] ?? 0) / 32_768
  return out
}

/** Clips; what is no number becomes silence. */
export const fromFloats = (samples: Float32Array): Int16Array => {
  const out = new Int16Array(samples.length)
  for (let i = 0; i < out.length; i++)
    out[i] = Math.max(-32_768, Math.min(32_767, Math.round((samples[i] ?? 0) * 32_767)))
  return out
}
