// Media signalling on the HTTP server: joins of browsers go to the calls, and before the server closes its sockets the
// calls are drained.
import { WebRtcCalls } from "@parley/app/calls/inbound/WebRtc"
import { Effect, Layer } from "effect"
import { Settings } from "../Settings.ts"
import { clientOf, connectionOf } from "./clientAddress.ts"
import { HttpListener, signalling } from "./HttpListener.ts"

export const layer: Layer.Layer<never, never, HttpListener | Settings | WebRtcCalls> = Layer.effectDiscard(
  Effect.gen(function* () {
    const listener = yield* HttpListener
    const { drain, upgrade, validate } = yield* WebRtcCalls
    const { trustedProxies } = yield* Settings
    yield* listener.serve({
      paths: signalling,
      upgrade: (request, socket, head) =>
        upgrade(request, socket, head, clientOf(connectionOf(request), trustedProxies)),
      validate,
      drain
    })
  })
)
