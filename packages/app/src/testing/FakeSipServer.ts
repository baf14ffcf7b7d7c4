// The telephone without a network: calls ring when a test says so, calls that are placed are answered as it says, and
// a leg's far side is scripted. What the server was asked for is kept.
import * as FakeLeg from "@parley/engine/testing/FakeLeg"
import type {
  DialOutcome,
  DialRequest,
  IncomingCall,
  SipServer,
  SipServerOptions,
  PhoneLeg
} from "@parley/transport/phone/Phone"
import { Effect } from "effect"
import type { OpenSipServer } from "../phone/Telephone.ts"

export type FakePhoneLeg = FakeLeg.FakeLeg & PhoneLeg

export interface FakeIncoming {
  readonly callId: string
  readonly rang: () => boolean
  /** The status it was refused with so far. */
  readonly refused: () => number | undefined
  /** How often it was answered. */
  readonly answers: () => number
  readonly leg: FakePhoneLeg
  readonly cancel: () => void
}

export interface FakeDial {
  readonly callId: string
  readonly request: DialRequest
  readonly leg: FakePhoneLeg
  readonly cancelled: () => boolean
  readonly resolve: (how: "answered" | "busy" | "no_answer" | "failed") => void
}

export interface FakeSipServer {
  /** To be given to the telephone in place of the one on the network. */
  readonly open: OpenSipServer
  readonly options: () => SipServerOptions
  readonly dials: ReadonlyArray<FakeDial>
  /** A caller who may call: undefined when nobody has the number. */
  readonly ring: (call: { readonly from: string; readonly to: string }) => Promise<FakeIncoming | undefined>
}

export const makeFakeSipServer = (): FakeSipServer => {
  const dials: Array<FakeDial> = []
  let options: SipServerOptions | undefined
  let calls = 0

  const server: SipServer = {
    ports: { udp: 5060 },
    dial: (request) => {
      const callId = `out-${++calls}@fake`
      const leg = makeLeg(callId)
      const { promise, resolve } = Promise.withResolvers<DialOutcome>()
      let isCancelled = false
      dials.push({
        callId,
        request,
        leg,
        cancelled: () => isCancelled,
        resolve: (status) =>
          resolve(
            status === "answered"
              ? { status, leg, callId }
              : { status, sipStatus: status === "busy" ? 486 : null, callId }
          )
      })
      return {
        outcome: promise,
        cancel: () => {
          isCancelled = true
          resolve({ status: "no_answer", sipStatus: 487, callId })
        }
      }
    },
    check: () => Promise.resolve({ sipStatus: 200, tookMs: 1 }),
    count: () => calls,
    close: () => Promise.resolve()
  }

  return {
    open: (given) => {
      options = given
      return Promise.resolve(server)
    },
    options: () => {
      if (options === undefined) throw new Error("the server was not opened")
      return options
    },
    dials,
    ring: async ({ from, to }) => {
      const [trunk] = (await options?.handlers.trunksOf(to)) ?? []
      if (trunk === undefined) return undefined
      const callId = `in-${++calls}@fake`
      const leg = makeLeg(callId)
      let tell: (() => void) | undefined
      let rang = false
      let refused: number | undefined
      let answers = 0
      const incoming: IncomingCall = {
        trunkId: trunk.id,
        callId,
        callerNumber: from,
        dialedNumber: to,
        ring: () => void (rang = true),
        refuse: (status) => void (refused ??= status),
        answer: () => {
          answers++
          return Promise.resolve(leg)
        },
        onCancelled: (told) => void (tell = told)
      }
      options?.handlers.onCall(incoming)
      return {
        callId,
        rang: () => rang,
        refused: () => refused,
        answers: () => answers,
        leg,
        cancel: () => tell?.()
      }
    }
  }
}

const makeLeg = (callId: string): FakePhoneLeg => {
  const leg = Effect.runSync(FakeLeg.make(8_000))
  return Object.assign(leg, {
    callId,
    telephone: {
      sendDigits: () => undefined,
      refer: (target: string) => {
        leg.referred.push(target)
        return Promise.resolve("refused" as const)
      }
    },
    sipTrace: () => [{ atMs: 0, direction: "in" as const, what: "INVITE", detail: "1" }]
  })
}
