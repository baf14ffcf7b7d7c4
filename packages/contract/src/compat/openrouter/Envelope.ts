// The error envelope of the OpenRouter-compatible API: `code` is the HTTP status as a number. A refusal of the main API
// has type `provider_error` and says so in `metadata`; the layer's own have none.
/** The body of every error. */
export interface OpenRouterBody {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly type: string
    readonly metadata?: { readonly provider_name: string }
  }
}
