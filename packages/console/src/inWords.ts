// Failures, times and sizes as a person should read them.
import { ParleyError } from "@parley/client/ParleyClient"

export const inWords = (error: unknown): string => {
  if (!(error instanceof ParleyError)) return error instanceof Error ? error.message : "Something went wrong."
  if (error.status === 0) return "The service cannot be reached. Is it still running?"
  if (error.status === 401) return "This key is not valid here. The service prints one when it starts."
  return error.message
}

/** ISO 8601 to the reader's own clock. */
export const timeInWords = (iso: string | null): string =>
  iso === null
    ? ""
    : new Date(iso).toLocaleString(undefined, {
        month: "short",
        day: "numeric",
        hour: "2-digit",
        minute: "2-digit",
        second: "2-digit"
      })

/** `1:05`, `12:00`. */
export const durationInWords = (seconds: number | null): string =>
  seconds === null ? "" : `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`

export const bytesInWords = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`

/** `user_hangup` -> `user hangup`. */
export const plain = (name: string): string => name.replaceAll("_", " ")
