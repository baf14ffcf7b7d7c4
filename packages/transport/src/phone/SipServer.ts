// The door of the telephone: its sockets, and who takes what they bring (`arrivals`) and what goes out by them
// (`departures`). The calls of both stand in one table.
import { makePhoneMedia } from "../rtp/PhoneMedia.ts"
import type { Flow } from "../sip/Flow.ts"
import { localAddress } from "../sip/localAddress.ts"
import type { Located } from "../sip/locate.ts"
import { waitsOfTheField } from "../sip/waits.ts"
import { connectStream, openPair, openStreams, openUdp, type UdpWire, type Wire } from "../sip/wires.ts"
import { makeArrivals } from "./inbound.ts"
import { CallTable } from "./CallTable.ts"
import { makeDepartures } from "./outbound.ts"
import type { SipServer, SipServerOptions } from "./Phone.ts"

export const makeSipServer = async (options: SipServerOptions): Promise<SipServer> => {
  const waits = { ...waitsOfTheField, ...options.waits }
  const calls = new CallTable(waits)
  let closed = false
  let udp: UdpWire | undefined
  let tcp: Wire | undefined
  let tls: Wire | undefined
  let ephemeral: Promise<UdpWire> | undefined

  const udpOut = (): Promise<UdpWire> =>
    udp === undefined ? (ephemeral ??= openUdp(options.host, 0, onMessage)) : Promise.resolve(udp)

  const flowTo = async (place: Located): Promise<Flow | undefined> => {
    if (place.transport === "udp") return (await udpOut()).flowTo(place.address, place.port)
    const { transport } = place
    return connectStream({ ...place, transport }, options.authorities, { onMessage })
  }

  const hereFor = async (flow: Flow): Promise<{ readonly signalling: string; readonly media: string }> => {
    const local = options.publicAddress ?? (await localAddress(options.host, flow.remote.address))
    const host = local.includes(":") ? `[${local}]` : local
    const port = flow.transport === "udp" ? (await udpOut()).port : flow.transport === "tcp" ? tcp?.port : tls?.port
    return { signalling: `${host}:${port ?? 5060}`, media: local }
  }

  const shared = {
    ...options,
    calls,
    waits,
    hereFor,
    isClosed: () => closed,
    makeMedia: (address: string, secure: boolean, onNote: (what: string, detail: string) => void) =>
      makePhoneMedia({
        address,
        bind: options.host,
        ports: options.rtpPorts,
        secure,
        onNote,
        nowMs: options.nowMs
      })
  }
  const onMessage = makeArrivals(shared)
  const { check, dial } = makeDepartures({ ...shared, flowTo })

  const wires: Array<Wire> = []
  try {
    if (options.port !== undefined) {
      ;[udp, tcp] = await openPair(options.host, options.port, onMessage)
      wires.push(udp, tcp)
    }
    if (options.tls !== undefined) {
      wires.push((tls = await openStreams(options.host, options.tls.port, options.tls, { onMessage })))
    }
  } catch (error) {
    await Promise.all(wires.map((wire) => wire.close()))
    throw error
  }

  return {
    ports: {
      ...(udp === undefined ? {} : { udp: udp.port }),
      ...(tcp === undefined ? {} : { tcp: tcp.port }),
      ...(tls === undefined ? {} : { tls: tls.port })
    },
    dial,
    check,
    count: () => calls.liveCount,
    close: async () => {
      if (closed) return
      closed = true
      const open = calls.live()
      for (const call of open) call.hangUp()
      if (open.length > 0) await new Promise((rest) => setTimeout(rest, waits.goodbyeMs))
      calls.close()
      const asked = ephemeral === undefined ? [] : [await ephemeral]
      await Promise.all([...wires, ...asked].map((wire) => wire.close()))
    }
  }
}
