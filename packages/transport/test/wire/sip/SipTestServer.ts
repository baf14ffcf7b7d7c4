// A real phone sip on loopback, its numbers, and somebody who takes its calls. Whatever a test does, in the end
// nothing may be left: no call, no socket.
import { setTimeout as rest } from "node:timers/promises"
import { Redacted } from "effect"
import { expect } from "vitest"
import type {
  DialRequest,
  Located,
  IncomingCall,
  SipTraceLine,
  SipServer,
  SipHandlers,
  SipNetwork,
  SipServerOptions,
  PhoneLeg
} from "../../../src/phone/Phone.ts"
import { makeSipServer } from "../../../src/sip/SipServer.ts"
import { locate } from "../../../src/sip/locate.ts"
import { RtpPeer, SipPeer, Talk, type Way } from "./SipPeer.ts"

export const number = "+15550100"
export const guarded = "+15550101"
export const walled = "+15550102"
export const both = "+15550103"
export const bare = "+15550104"
export const user = { username: "trunk", password: "s3cret" }
const digest = { username: user.username, password: Redacted.make(user.password) }

export interface Taken {
  readonly call: IncomingCall
  readonly leg: PhoneLeg | undefined
  readonly closed: Array<string>
  readonly digits: Array<string>
  frames: number
  loud: number
}

export interface SipTestServer {
  readonly sip: SipServer
  readonly port: number
  readonly taken: Array<Taken>
  readonly sipTraces: Map<string, ReadonlyArray<SipTraceLine>>
  readonly peer: (way?: Way) => Promise<SipPeer>
  readonly listener: (way?: Way) => Promise<SipPeer>
  /** At another address than the caller's where one is given. */
  readonly rtp: (address?: string) => Promise<RtpPeer>
  /** A caller with sound. */
  readonly caller: (way?: Way, to?: string) => Promise<{ peer: SipPeer; talk: Talk; rtp: RtpPeer }>
  readonly adopt: (leg: PhoneLeg) => Taken
  /** Moves the clock of nonces and media. */
  readonly pass: (ms: number) => void
  readonly dial: (peer: SipPeer, more?: Partial<DialRequest>) => ReturnType<SipServer["dial"]>
  /** A trunk that is found at several places. */
  readonly dialAt: (peers: ReadonlyArray<SipPeer>) => ReturnType<SipServer["dial"]>
  readonly close: () => Promise<void>
}

/** The server as it is, but for what is given. */
export interface SipTestServerOptions extends Omit<Partial<SipServerOptions>, "network" | "handlers"> {
  readonly network?: Partial<SipNetwork>
  readonly handlers?: Partial<SipHandlers>
}

export const openSipTestServer = async (
  more: SipTestServerOptions = {},
  onCall?: (call: IncomingCall, take: () => Promise<Taken>) => void
): Promise<SipTestServer> => {
  const before = sockets()
  const taken: Array<Taken> = []
  const sipTraces = new Map<string, ReadonlyArray<SipTraceLine>>()
  const closers: Array<() => void> = []
  let passedMs = 0

  const adopt = (leg: PhoneLeg | undefined, call?: IncomingCall): Taken => {
    const one: Taken = { call: call as IncomingCall, leg, closed: [], digits: [], frames: 0, loud: 0 }
    taken.push(one)
    leg?.attach({
      onFrame: (samples) => {
        one.frames++
        if (samples.some((sample) => Math.abs(sample) > 2_000)) one.loud++
      },
      onEvent: () => undefined,
      onDigit: (digit) => one.digits.push(digit),
      onClosed: (how) => one.closed.push(how)
    })
    return one
  }
  const answering = (call: IncomingCall, take: () => Promise<Taken>): void => {
    call.ring()
    void take()
  }

  let places: ReadonlyArray<Located> | undefined
  const sip = await makeSipServer({
    userAgent: "Parley",
    mayReach: isLoopback,
    find: async (trunk) => places ?? locate(trunk),
    nowMs: () => performance.now() + passedMs,
    ...more,
    network: {
      host: "127.0.0.1",
      port: 0,
      tls: undefined,
      publicAddress: undefined,
      rtpPorts: undefined,
      ...more.network
    },
    handlers: {
      trunksOf: async (dialed) =>
        [
          {
            [number]: { id: "open", allowedAddresses: ["127.0.0.0/8"], digest: undefined },
            [guarded]: { id: "guarded", allowedAddresses: [], digest },
            [walled]: { id: "walled", allowedAddresses: ["192.0.2.0/24"], digest: undefined },
            [both]: { id: "both", allowedAddresses: ["127.0.0.1"], digest },
            [bare]: { id: "bare", allowedAddresses: [], digest: undefined }
          }[dialed] ?? []
        ].flat(),
      onCall: (call) => (onCall ?? answering)(call, async () => adopt(await call.answer(), call)),
      onTrace: (callId, sipTrace) => sipTraces.set(callId, sipTrace),
      ...more.handlers
    }
  })
  const tick = setInterval(() => {
    for (const { leg } of taken) leg?.play(tone(leg.playRate))
  }, 20)

  const server: SipTestServer = {
    sip,
    port: sip.ports.udp ?? 0,
    taken,
    sipTraces,
    peer: async (way = "udp") => {
      const peer = await SipPeer.open(way, (way === "udp" ? sip.ports.udp : sip.ports.tcp) ?? 0)
      closers.push(() => peer.close())
      return peer
    },
    listener: async (way = "udp") => {
      const peer = await SipPeer.listen(way)
      closers.push(() => peer.close())
      return peer
    },
    rtp: async (address) => {
      const rtp = await RtpPeer.open(address)
      closers.push(() => rtp.close())
      return rtp
    },
    caller: async (way, to = number) => {
      const peer = await server.peer(way)
      return { peer, talk: new Talk(peer, to), rtp: await server.rtp() }
    },
    adopt,
    pass: (ms) => void (passedMs += ms),
    dial: (peer, request) =>
      sip.dial({
        trunk: { uri: `127.0.0.1:${peer.port}`, transport: peer.way, credentials: undefined },
        from: number,
        to: "+15550177",
        headers: {},
        ringSeconds: 5,
        ...request
      }),
    dialAt: (peers) => {
      places = peers.map(({ port, way }) => ({ transport: way, address: "127.0.0.1", port, host: "127.0.0.1" }))
      return server.dial(peers[0] as SipPeer)
    },
    close: async () => {
      try {
        await until(() => sip.count() === 0, "a call is left")
      } finally {
        clearInterval(tick)
        await sip.close()
        for (const close of closers) close()
      }
      await until(() => sockets() <= before, `sockets are left: ${process.getActiveResourcesInfo().join(" ")}`)
    }
  }
  return server
}

/** Runs a scenario in a server of its own, and sees that nothing is left of it. */
export const withServer =
  (act: (server: SipTestServer) => Promise<void>, ...given: Parameters<typeof openSipTestServer>) =>
  async (): Promise<void> => {
    const server = await openSipTestServer(...given)
    let failed = true
    try {
      await act(server)
      failed = false
    } finally {
      // The reason is what failed first.
      await (failed ? server.close().catch(() => undefined) : server.close())
    }
  }

export const until = async (holds: () => boolean, why: string, withinMs = 8_000): Promise<void> => {
  const limit = performance.now() + withinMs
  while (!holds()) {
    if (performance.now() > limit) expect.fail(why)
    await rest(5)
  }
}

const isLoopback = (address: string): boolean => address.startsWith("127.")

const sockets = (): number => process.getActiveResourcesInfo().filter((name) => /UDP|TCP|TLS/.test(name)).length

const tone = (rate: number): Int16Array =>
  Int16Array.from({ length: rate / 50 }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 500 * i) / rate))
