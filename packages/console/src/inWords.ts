// Failures as a person should read them.
import { ParleyError } from "@parley/client/ParleyClient"

export const inWords = (error: unknown): string => {
  if (!(error instanceof ParleyError)) return error instanceof Error ? error.message : "Something went wrong."
  if (error.status === 0) return "The service cannot be reached. Is it still running?"
  if (error.status === 401) return "This key is not valid here. The service prints one when it starts."
  return error.message
}
