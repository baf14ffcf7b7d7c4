// The SIP server: its sockets, who takes what they bring (`inbound`) and what goes out by them (`outbound`), in one scope.
// Closing that scope refuses new calls, ends the live ones (each says goodbye in its own scope) and frees the sockets.
import { Effect, Exit, FiberSet, Scope } from "effect"
import type { Located, SipServer, SipServerOptions } from "../phone/Phone.ts"
import { makePhoneMedia } from "../rtp/PhoneMedia.ts"
import { CallTable } from "./CallTable.ts"
import type { Flow } from "./Flow.ts"
import { makeInbound } from "./inbound.ts"
import { localAddress } from "./localAddress.ts"
import { type Here, type MakeMedia, makeOutbound } from "./outbound.ts"
import { defaultTimings } from "./timings.ts"
import { connectStream, openPair, openStreams, openUdp, type UdpWire, type Wire } from "./wires.ts"

/** Opens the ports. Rejects when one is taken. */
export const makeSipServer = async (options: SipServerOptions): Promise<SipServer> => {
  const scope = Scope.makeUnsafe()
  try {
    return await Effect.runPromise(Scope.provide(open(options, scope), scope))
  } catch (error) {
    await Effect.runPromise(Scope.close(scope, Exit.void))
    throw error
  }
}

const open = Effect.fnUntraced(function* (
  options: SipServerOptions,
  scope: Scope.Closeable
): Effect.fn.Return<SipServer, never, Scope.Scope> {
  const { handlers, mayReach, network } = options
  const timings = { ...defaultTimings, ...options.timings }
  const calls = new CallTable()
  const onMessage = (text: string, flow: Flow): void => inbound(text, flow)
  // Sockets first: they outlive the calls.
  const [udp, tcp] =
    network.port === undefined
      ? []
      : yield* Effect.acquireRelease(
          Effect.promise(() => openPair(network.host, network.port ?? 0, onMessage)),
          (pair) => Effect.promise(() => Promise.all(pair.map((wire) => wire.close())))
        )
  const { tls: secure } = network
  const tls =
    secure === undefined
      ? undefined
      : yield* acquireWire(() => openStreams(network.host, secure.port, secure, { onMessage }))
  /** Where nothing listens on UDP, calls that are placed get a socket of their own when the first one needs it. */
  const ephemeral = yield* Effect.cached(
    Scope.provide(
      acquireWire(() => openUdp(network.host, 0, onMessage)),
      scope
    )
  )
  const udpOut = (): Promise<UdpWire> => (udp === undefined ? Effect.runPromise(ephemeral) : Promise.resolve(udp))

  const flowTo = async (place: Located): Promise<Flow | undefined> => {
    if (place.transport === "udp") return (await udpOut()).flowTo(place.address, place.port)
    const { transport } = place
    return connectStream({ ...place, transport }, network.authorities, { onMessage })
  }
  const hereFor = async (flow: Flow): Promise<Here> => {
    const local = network.publicAddress ?? (await localAddress(network.host, flow.remote.address))
    const host = local.includes(":") ? `[${local}]` : local
    const port = flow.transport === "udp" ? (await udpOut()).port : flow.transport === "tcp" ? tcp?.port : tls?.port
    return { signalling: `${host}:${port ?? 5060}`, media: local }
  }
  const makeMedia: MakeMedia = (call) =>
    makePhoneMedia({ ...call, bind: network.host, ports: network.rtpPorts, mayReach, nowMs: options.nowMs })

  const fibers = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(fibers)()
  const { nowMs, userAgent } = options
  const parts = { ...handlers, mayReach, userAgent, calls, timings, run, hereFor, makeMedia }
  const inbound = makeInbound({ ...parts, nowMs, isClosed: () => scope.state._tag === "Closed" })
  const { check, dial } = makeOutbound({ ...parts, find: options.find, flowTo })
  return {
    ports: {
      ...(udp === undefined ? {} : { udp: udp.port }),
      ...(tcp === undefined ? {} : { tcp: tcp.port }),
      ...(tls === undefined ? {} : { tls: tls.port })
    },
    dial,
    check,
    count: () => calls.liveCount,
    close: () => Effect.runPromise(Scope.close(scope, Exit.void))
  }
})

const acquireWire = <W extends Wire>(open: () => Promise<W>): Effect.Effect<W, never, Scope.Scope> =>
  Effect.acquireRelease(Effect.promise(open), (wire) => Effect.promise(() => wire.close()))
