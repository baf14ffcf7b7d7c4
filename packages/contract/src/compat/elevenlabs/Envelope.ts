// The error envelope of the ElevenLabs-compatible API: `{detail: {status, message}}`. `provider_error` is an error of
// the main API with its message; every other status is this API's own.
/** The words for what went wrong. */
export type ElevenLabsStatus =
  | "invalid_request"
  | "unauthorized"
  | "voice_not_found"
  | "model_not_found"
  | "not_found"
  | "payload_too_large"
  | "rate_limit_error"
  | "upstream_error"
  | "provider_error"

/** The body of every error. */
export interface ElevenLabsBody {
  readonly detail: { readonly status: ElevenLabsStatus; readonly message: string }
}
