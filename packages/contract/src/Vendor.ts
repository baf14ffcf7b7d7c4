// The one neutral word for the service's brand (decisions 0): header prefix, model prefix, extra-body name.
// One setting replaces it; everything else derives from it here.

export const defaultVendor = "vendor"

/** `vendor` -> `X-Vendor-`. */
export const headerPrefix = (vendor: string): string =>
  `X-${vendor
    .split("-")
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("-")}-`

/** The top-level field of custom LLM requests that carries a session's `llm_extra_body`. */
export const extraBodyField = (vendor: string): string => `${vendor.replaceAll("-", "_")}_extra_body`
