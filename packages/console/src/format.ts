// Failures, times, durations and sizes as text for people.
import { ParleyError } from "@parley/client/ParleyClient"

/** A failure as a sentence: without a connection (status 0) and without a valid key (401) it says what to do. */
export const formatError = (error: unknown): string => {
  if (!(error instanceof ParleyError)) return error instanceof Error ? error.message : "Something went wrong."
  if (error.status === 0) return "The service cannot be reached. Is it still running?"
  if (error.status === 401) return "This key is not valid here. The service prints one when it starts."
  return error.message
}

/** ISO 8601 to the reader's own clock. */
export const formatTime = (iso: string | null): string =>
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
export const formatDuration = (seconds: number | null): string =>
  seconds === null ? "" : `${Math.floor(seconds / 60)}:${String(Math.floor(seconds % 60)).padStart(2, "0")}`

/** `512 B`, `1.5 KB`, `2.0 MB`; 1 KB is 1,024 bytes. */
export const formatBytes = (bytes: number): string =>
  bytes < 1024
    ? `${bytes} B`
    : bytes < 1024 ** 2
      ? `${(bytes / 1024).toFixed(1)} KB`
      : `${(bytes / 1024 ** 2).toFixed(1)} MB`

/** `user_hangup` -> `user hangup`. */
export const formatName = (name: string): string => name.replaceAll("_", " ")
