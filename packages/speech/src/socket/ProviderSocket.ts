// A socket to a provider, open for as long as its scope: the handshake is bounded and its refusal becomes a reason,
// text frames come by callback, the end comes once. Nothing that the other side sends can throw.
import { Effect, Redacted } from "effect"
import type { Scope } from "effect"
import { WebSocket } from "ws"
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"

/** Where the socket leads. */
export interface SocketAddress {
  readonly provider: string
  /** `http:` and `https:` are taken as `ws:` and `wss:`. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** From asking to the open socket. */
  readonly openMs: number
}

/** Called synchronously by the socket; must not throw. */
export interface SocketListener {
  /** Each text frame; JSON that is none comes as `undefined`. */
  readonly onMessage: (message: unknown) => void
  /** The socket is over; no message follows. Not called once the scope closed. */
  readonly onEnd: (end: SocketEnd) => void
}

/** Why the socket is over. */
export interface SocketEnd {
  /** Of the close frame; 1006 when there was none. */
  readonly code: number
}

/** An open socket; sending on one that is over does nothing. */
export interface ProviderSocket {
  readonly sendJson: (message: unknown) => void
  readonly sendBytes: (bytes: Uint8Array) => void
  /** Bytes accepted that the network has not taken yet. */
  readonly backlog: () => number
}

const mostFrameBytes = 8 * 2 ** 20

/** Fails with `Unauthorized`, `Overloaded`, `Timeout`, `Unavailable` or `BadRequest` by the status of the handshake. Closing the scope closes the socket. */
export const openSocket = Effect.fnUntraced(function* (
  address: SocketAddress,
  listener: SocketListener
): Effect.fn.Return<ProviderSocket, SpeechError, Scope.Scope> {
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => dial(address)),
    (socket) => Effect.sync(() => hangUp(socket))
  )
  yield* Effect.callback<void, SpeechError>((resume) => {
    const fail = (reason: SpeechErrorReason, message: string) =>
      resume(Effect.fail(new SpeechError({ reason, provider: address.provider, message })))
    socket.once("open", () => resume(Effect.void))
    socket.once("unexpected-response", (request, response) => {
      request.destroy()
      fail(reasonOfStatus(response.statusCode ?? 0), `status ${response.statusCode ?? 0}`)
    })
    socket.on("error", () => fail("Unavailable", "connection failed"))
  }).pipe(
    Effect.timeoutOrElse({
      duration: address.openMs,
      orElse: () =>
        Effect.fail(new SpeechError({ reason: "Timeout", provider: address.provider, message: "no answer" }))
    })
  )
  socket.on("message", (data, isBinary) => {
    if (!isBinary) listener.onMessage(parsed(String(data)))
  })
  socket.once("close", (code) => listener.onEnd({ code }))
  // It may have closed between its opening and here.
  if (socket.readyState === WebSocket.CLOSED) listener.onEnd({ code: 1006 })
  const send = (data: string | Uint8Array) => {
    if (socket.readyState === WebSocket.OPEN) socket.send(data, () => {})
  }
  return {
    sendJson: (message) => send(JSON.stringify(message)),
    sendBytes: send,
    backlog: () => socket.bufferedAmount
  }
})

const dial = ({ headers, openMs, url }: SocketAddress): WebSocket => {
  const address = new URL(url)
  address.protocol = /^(http|ws):$/.test(url.protocol) ? "ws:" : "wss:"
  const socket = new WebSocket(address, {
    headers,
    handshakeTimeout: openMs,
    maxPayload: mostFrameBytes,
    perMessageDeflate: false,
    followRedirects: false
  })
  // A socket that fails after everybody left must not take the process down.
  socket.on("error", () => {})
  return socket
}

const hangUp = (socket: WebSocket): void => {
  socket.removeAllListeners("message")
  socket.removeAllListeners("close")
  if (socket.readyState === WebSocket.OPEN) socket.close(1000)
  // Who does not answer the close is not waited for.
  const timer = setTimeout(() => socket.terminate(), 1000)
  timer.unref()
  if (socket.readyState === WebSocket.CONNECTING) socket.terminate()
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Of an HTTP answer, or of an error that carries such a number. */
export const reasonOfStatus = (status: number): SpeechErrorReason => {
  if (status === 401 || status === 403) return "Unauthorized"
  if (status === 402 || status === 429) return "Overloaded"
  if (status === 408 || status === 504) return "Timeout"
  if (status === 400 || status === 422) return "BadRequest"
  return "Unavailable"
}

/** Headers with the key in them, if there is one. */
export const keyHeader = (
  name: string,
  key: Redacted.Redacted | undefined,
  prefix = ""
): Readonly<Record<string, string>> => (key === undefined ? {} : { [name]: prefix + Redacted.value(key) })
