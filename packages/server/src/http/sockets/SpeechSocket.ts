// One WebSocket as a sequence of frames: received frames wait in a short queue, beyond some frames or bytes of which the peer is
// paused; a sent frame waits until the network took it. That is the whole back-pressure: a slow reader slows whoever speaks to
// it.
import { Deferred, Effect, Queue, type Scope } from "effect"
import type { WebSocket } from "ws"

/** What one message held. `size`: bytes on the wire. */
export type Frame =
  | { readonly _tag: "Text"; readonly text: string; readonly size: number }
  | { readonly _tag: "Binary"; readonly bytes: Uint8Array; readonly size: number }

/** An open WebSocket, in frames. */
export interface SpeechSocket {
  /** In order of arrival. Does not return once the peer is gone: the fiber of the conversation ends instead. */
  readonly receive: Effect.Effect<Frame>
  /** Returns when the network took the frame. */
  readonly send: (data: string | Uint8Array) => Effect.Effect<void>
  /** `send` of the value as JSON text. */
  readonly sendJson: (value: unknown) => Effect.Effect<void>
  /** Closes with this code (RFC 6455, 7.4). Nothing is sent or received afterwards. */
  readonly close: (code: number, reason?: string) => Effect.Effect<void>
  /** Reads on after the first frame of a socket that was to be held there. */
  readonly readOn: () => void
  /** Succeeds when the peer is gone or the closing handshake is over. */
  readonly closed: Effect.Effect<void>
}

/** Received frames, and their bytes, that wait before the peer is paused. */
const mostWaiting = 64
const mostWaitingBytes = 2 ** 20
/** A peer that answers no ping for this long is gone. */
const pingMs = 30_000
/** How long the closing handshake may take. */
const closeMs = 5_000

/**
 * Until the scope closes, which cuts the socket if it is still open. `firstFrameBytes`: the first frame is at most so large, or
 * the socket is closed with 1009, and nothing after it is read before `readOn`.
 */
export const overWebSocket = Effect.fnUntraced(function* (
  ws: WebSocket,
  firstFrameBytes?: number
): Effect.fn.Return<SpeechSocket, never, Scope.Scope> {
  const frames = yield* Queue.unbounded<Frame>()
  const gone = yield* Deferred.make<void>()
  let waiting = 0
  let waitingBytes = 0
  let answered = true
  let held = firstFrameBytes !== undefined
  const limitOfAll = firstFrameBytes === undefined ? 0 : limitFrames(ws, firstFrameBytes)

  const isFull = () => waiting >= mostWaiting || waitingBytes >= mostWaitingBytes
  ws.on("message", (data, isBinary) => {
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.isBuffer(data) ? data : Buffer.from(data)
    const size = bytes.length
    Queue.offerUnsafe(
      frames,
      isBinary ? { _tag: "Binary", bytes, size } : { _tag: "Text", text: bytes.toString(), size }
    )
    waiting += 1
    waitingBytes += size
    // What came in the same piece of the stream is there already.
    if (held) limitFrames(ws, limitOfAll)
    if (held || isFull()) ws.pause()
  })
  ws.on("pong", () => {
    answered = true
  })
  // Too large a frame, bad UTF-8, a cut connection: the library closes with the right code by itself.
  ws.on("error", () => undefined)
  ws.on("close", () => Deferred.doneUnsafe(gone, Effect.void))
  const pings = setInterval(() => {
    if (!answered) return ws.terminate()
    answered = false
    ws.ping()
  }, pingMs)
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      clearInterval(pings)
      ws.terminate()
    })
  )

  const send = (data: string | Uint8Array) =>
    Effect.callback<void>((resume) => {
      // A failed send is followed by `close`, which ends the conversation.
      ws.send(data, (error) => (error == null ? resume(Effect.void) : undefined))
    })

  return {
    receive: Effect.map(Queue.take(frames), (frame) => {
      waiting -= 1
      waitingBytes -= frame.size
      if (ws.isPaused && !held && !isFull()) ws.resume()
      return frame
    }),
    send,
    sendJson: (value) => send(JSON.stringify(value)),
    close: (code, reason) =>
      Effect.suspend(() => {
        ws.resume()
        ws.close(code, reason)
        return Deferred.await(gone)
      }).pipe(Effect.timeoutOption(closeMs), Effect.asVoid),
    readOn: () => {
      held = false
      if (!isFull()) ws.resume()
    },
    closed: Deferred.await(gone)
  }
})

/** Gives the limit that held before. The library takes one only before the upgrade, the same for all sockets. */
const limitFrames = (ws: WebSocket, bytes: number): number => {
  const receiver = (ws as unknown as { readonly _receiver: { _maxPayload: number } })._receiver
  const before = receiver._maxPayload
  receiver._maxPayload = bytes
  return before
}
