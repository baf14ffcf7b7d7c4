// Embeddings as they are kept: of length one, a signed byte a number. Their product is the cosine of their angle, to
// about one percent. Pure.

const scale = 127

/** The vectors in a row. All must be of one length. */
export const packed = (vectors: ReadonlyArray<Float32Array>): Int8Array => {
  const size = vectors[0]?.length ?? 0
  const bytes = new Int8Array(size * vectors.length)
  vectors.forEach((vector, at) => {
    const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0))
    const factor = length === 0 ? 0 : scale / length
    for (let i = 0; i < size; i++) bytes[at * size + i] = Math.round((vector[i] ?? 0) * factor)
  })
  return bytes
}

/** A row and its cosine with the question. */
export interface Nearest {
  readonly position: number
  /** Cosine, -1 to 1. */
  readonly likeness: number
}

/** The rows most like the question, best first; none when they are of another length. */
export const nearest = (rows: Int8Array, question: Int8Array, most: number): ReadonlyArray<Nearest> => {
  const size = question.length
  if (size === 0 || rows.length % size !== 0) return []
  const found: Array<Nearest> = []
  for (let position = 0; position * size < rows.length; position++) {
    let sum = 0
    const begin = position * size
    for (let i = 0; i < size; i++) sum += (rows[begin + i] ?? 0) * (question[i] ?? 0)
    const likeness = sum / (scale * scale)
    if (found.length < most || likeness > (found.at(-1)?.likeness ?? -1)) {
      const at = found.findIndex((other) => other.likeness < likeness)
      found.splice(at < 0 ? found.length : at, 0, { position, likeness })
      found.length = Math.min(found.length, most)
    }
  }
  return found
}
