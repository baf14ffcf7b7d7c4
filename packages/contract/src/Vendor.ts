// The one neutral word for the service's brand, and what derives from it.
// One setting replaces it.

/** The word of an installation that chose none. */
export const defaultVendor = "vendor"

/** The top-level field of custom LLM requests that carries a session's `llm_extra_body`. */
export const extraBodyField = (vendor: string): string => `${vendor.replaceAll("-", "_")}_extra_body`

/** What the service's own headers begin with: `X-Vendor-`. */
export const headerPrefix = (vendor: string): string =>
  `X-${vendor
    .split("-")
    .map((word) => `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`)
    .join("-")}-`
