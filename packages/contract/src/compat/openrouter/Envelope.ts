// The error envelope of the OpenRouter-compatible API: `code` is the HTTP status as a number. An error of the main API
// has type `provider_error` and names the service in `metadata`; this API's own errors have none.
/** The body of every error. */
export interface OpenRouterBody {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly type: string
    readonly metadata?: { readonly provider_name: string }
  }
}
