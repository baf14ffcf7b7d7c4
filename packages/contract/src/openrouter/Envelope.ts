// The error envelope of layer B (spec: Errors): `code` is the HTTP status as a number. A refusal of the main API has
// type `provider_error` and says so in `metadata`; the layer's own have none.
export interface OpenRouterBody {
  readonly error: {
    readonly code: number
    readonly message: string
    readonly type: string
    readonly metadata?: { readonly provider_name: string }
  }
}
