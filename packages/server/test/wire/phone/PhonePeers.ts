// Who calls and who is called in tests of the whole telephone: a port that is free, a number of ours, a person with a
// handset of our own.
import type { DialOutcome, SipServer, PhoneLeg } from "@parley/transport/phone/Phone"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import { createServer } from "node:net"
import { once } from "node:events"
import type { AddressInfo } from "node:net"
import type { RunningService } from "../../../src/testing/RunningService.ts"

export const number = "+14155550123"

/** Free a moment ago. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** Whoever calls from this machine reaches the agent; its own calls go to this port. */
export const importNumber = (service: RunningService, agent: string, termination: number): Promise<unknown> =>
  service.api("POST", "/v1/agent/phone-numbers", {
    provider: "sip",
    phone_number: number,
    agent_id: agent,
    inbound_allowed_addresses: ["127.0.0.0/8"],
    termination_uri: `127.0.0.1:${termination}`,
    termination_transport: "udp"
  })

export interface Handset {
  readonly leg: PhoneLeg
  /** Frames that were not silence, since `forget`. */
  readonly loud: () => number
  readonly forget: () => void
  readonly digits: () => string
  readonly over: () => boolean
  /** A tone for so long, then silence. */
  readonly makeNoise: (ms: number) => void
  readonly hangUp: () => void
}

const tone = (rate: number) =>
  Int16Array.from({ length: rate / 50 }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 440 * i) / rate))

/** A person holds the leg: sends silence until told otherwise, and notices what is heard. */
export const hold = (leg: PhoneLeg): Handset => {
  const noise = tone(leg.playRate)
  let [loud, noisy, over, digits] = [0, 0, false, ""]
  const timer = setInterval(() => leg.play(noisy-- > 0 ? noise : undefined), 20)
  const end = (): void => {
    over = true
    clearInterval(timer)
  }
  leg.attach({
    onFrame: (samples) => {
      if (samples.some((sample) => Math.abs(sample) > 800)) loud++
    },
    onEvent: () => undefined,
    onDigit: (digit) => (digits += digit),
    onClosed: end
  })
  return {
    leg,
    loud: () => loud,
    forget: () => (loud = 0),
    digits: () => digits,
    over: () => over,
    makeNoise: (ms) => (noisy = ms / 20),
    hangUp: () => {
      end()
      leg.close("user_hangup")
    }
  }
}

export interface Exchange {
  readonly server: SipServer
  readonly port: number
  /** Calls that came in, answered. */
  readonly answered: Array<Handset>
  readonly call: (port: number, from?: string) => Promise<Handset>
}

/** A telephone of somebody else: takes every call, or refuses it with a status. */
export const openExchange = async (onCall: () => 486 | 480 | "answer" = () => "answer"): Promise<Exchange> => {
  const answered: Array<Handset> = []
  const server = await makeSipServer({
    network: {
      host: "127.0.0.1",
      port: 0,
      tls: undefined,
      publicAddress: undefined,
      rtpPorts: undefined
    },
    mayReach: () => true,
    userAgent: "exchange",
    handlers: {
      trunksOf: () => Promise.resolve([{ id: "any", allowedAddresses: ["127.0.0.0/8"], digest: undefined }]),
      onCall: (call) => {
        const answer = onCall()
        if (answer !== "answer") return call.refuse(answer)
        call.ring()
        void call.answer().then((leg) => leg && answered.push(hold(leg)))
      }
    }
  })
  const port = server.ports.udp ?? 0
  return {
    server,
    port,
    answered,
    call: async (to, from = "+14155550111") => {
      const trunk = { uri: `127.0.0.1:${to}`, transport: "udp", credentials: undefined } as const
      const outcome: DialOutcome = await server.dial({ trunk, from, to: number, headers: {}, ringSeconds: 20 }).outcome
      if (outcome.status !== "answered") throw new Error(`the call was ${outcome.status}, ${outcome.sipStatus}`)
      return hold(outcome.leg)
    }
  }
}
