// An error of the main API as the compatible APIs pass it on.

/** HTTP status and message; the message is shown to the client. */
export interface MainApiError {
  readonly status: number
  readonly message: string
}
