// Media signalling on the HTTP server: joins of browsers go to the calls, and before the server closes its sockets the
// calls say goodbye.
import { LiveCalls } from "@parley/app/calls/LiveCalls"
import { PhoneDesk } from "@parley/app/phone/PhoneDesk"
import { Effect, Layer } from "effect"
import { HttpListener, signalling } from "./HttpListener.ts"

export const layer: Layer.Layer<never, never, HttpListener | LiveCalls | PhoneDesk> = Layer.effectDiscard(
  Effect.gen(function* () {
    const listener = yield* HttpListener
    const calls = yield* LiveCalls
    const telephone = yield* PhoneDesk
    yield* listener.serve({ paths: signalling, ...calls.signalling, drain: calls.drain })
    yield* listener.serve({ paths: /$^/, upgrade: () => false, drain: telephone.drain })
  })
)
