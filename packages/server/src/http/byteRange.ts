// The part of a file that a request asks for (RFC 9110, 14): one range of bytes. Several ranges, and what is no range
// of bytes, get the whole file, as the document allows.

export type ByteRange =
  | { readonly _tag: "Whole" }
  | { readonly _tag: "Part"; readonly offset: number; readonly length: number }
  | { readonly _tag: "Unsatisfiable" }

const whole: ByteRange = { _tag: "Whole" }

/** `header`: of `Range`, when there is one. `size`: of the file, in bytes. */
export const byteRange = (header: string | undefined, size: number): ByteRange => {
  const [, from = "", to = ""] = /^bytes=\s*(\d{0,15})-(\d{0,15})\s*$/i.exec(header ?? "") ?? []
  if (from === "" && to === "") return whole
  if (from === "") {
    const length = Math.min(Number(to), size)
    return length === 0 ? { _tag: "Unsatisfiable" } : { _tag: "Part", offset: size - length, length }
  }
  const first = Number(from)
  const last = to === "" ? size - 1 : Math.min(Number(to), size - 1)
  if (to !== "" && Number(to) < first) return whole
  return first >= size ? { _tag: "Unsatisfiable" } : { _tag: "Part", offset: first, length: last - first + 1 }
}
