// Media signalling on the HTTP server: joins of browsers go to the calls, and before the server closes its sockets the
// calls are drained.
import { WebRtcCalls } from "@parley/app/calls/inbound/WebRtc"
import { Effect, Layer } from "effect"
import { HttpListener, signalling } from "./HttpListener.ts"

export const layer: Layer.Layer<never, never, HttpListener | WebRtcCalls> = Layer.effectDiscard(
  Effect.gen(function* () {
    const listener = yield* HttpListener
    const { drain, upgrade, validate } = yield* WebRtcCalls
    yield* listener.serve({ paths: signalling, upgrade, validate, drain })
  })
)
