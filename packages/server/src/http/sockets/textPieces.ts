// Text as it is handed to a synthesis: in pieces, so that what waits to be spoken is counted by its length and not by its frames.

/** Characters of one piece. */
const longest = 16_384

/** The text in pieces that are well-formed where it is; none for an empty one. */
export const textPieces = (text: string): ReadonlyArray<string> => {
  const pieces: Array<string> = []
  for (let at = 0; at < text.length;) {
    const end = Math.min(text.length, at + longest)
    // Never between the halves of a surrogate pair.
    const cut = end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800 ? end - 1 : end
    pieces.push(text.slice(at, cut))
    at = cut
  }
  return pieces
}
