// Channels of floats, as codecs give them, to one channel of 16 bits: the mean, NaN silenced, peaks clipped.

/** The mean of all channels, as 16-bit samples. */
export const monoOf = (channels: ReadonlyArray<Float32Array>, samples: number): Int16Array => {
  const out = new Int16Array(Math.max(0, Math.min(samples, channels[0]?.length ?? 0)))
  const scale = 32768 / channels.length
  for (let i = 0; i < out.length; i++) {
    let sum = 0
    for (const channel of channels) sum += channel[i]!
    const value = sum * scale
    out[i] = value > 32767 ? 32767 : value < -32768 ? -32768 : Math.round(value) || 0
  }
  return out
}
