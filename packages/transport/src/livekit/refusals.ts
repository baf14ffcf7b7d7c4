// Refusing a client before it has a signalling socket: by status and words, for a person who reads the browser's console.
import type { Duplex } from "node:stream"

/** Why nobody comes in, as an HTTP status and words. */
export interface Refusal {
  readonly refused: { readonly status: number; readonly message: string }
}

/** A refusal as a value. */
export const refuse = (status: number, message: string): Refusal => ({ refused: { status, message } })

const statusText: Record<number, string> = {
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  410: "Gone",
  500: "Internal Server Error",
  503: "Service Unavailable"
}

/** Answers an upgrade by plain HTTP and closes the socket. Readable by a page of any origin. */
export const refuseUpgrade = (socket: Duplex, status: number, message: string): void => {
  if (socket.destroyed) return
  const body = Buffer.from(message)
  socket.end(
    `HTTP/1.1 ${status} ${statusText[status] ?? "Refused"}\r\ncontent-type: text/plain; charset=utf-8\r\n` +
      `access-control-allow-origin: *\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n${message}`
  )
}
