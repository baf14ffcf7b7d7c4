/** JSON that jsonb takes: what a recogniser or a model says may hold NUL or half a character. */
export const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === "string" ? inner.replaceAll("\0", "").toWellFormed() : inner
  )
