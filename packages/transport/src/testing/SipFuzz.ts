// Says a great many wrong things to the SIP server, without sockets: single messages, and walks through calls
// where some word is wrong. Counts what came of it, and measures what stays in memory.
import { setImmediate as turn, setTimeout as rest } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect, Exit, FiberSet, Scope } from "effect"
import { makeInbound } from "../sip/inbound.ts"
import { CallTable } from "../sip/CallTable.ts"
import type { IncomingCall, PhoneLeg } from "../phone/Phone.ts"
import type { Media } from "../rtp/Media.ts"
import { agree } from "../rtp/negotiation.ts"
import { readSdp } from "../rtp/sdp.ts"
import { bareReply } from "../sip/bareReply.ts"
import type { Flow } from "../sip/Flow.ts"
import { parse } from "../sip/SipCore.ts"
import { addBranch, peekHeaders, normalise, unfolded } from "../sip/text.ts"
import { defaultTimings } from "../sip/timings.ts"
import { chanceOf, extras, mutated, request, sdp, stray } from "./SipGrammar.ts"

/** How much to say, and the seed that makes it repeatable. */
export interface FuzzOptions {
  readonly messages: number
  readonly seed: number
  readonly onProgress?: (said: number, heapBytes: number) => void
}

/** What came of it. */
export interface FuzzReport {
  readonly messages: number
  readonly tookMs: number
  /** Exceptions that reached the server's own net, or the process. */
  readonly faults: ReadonlyArray<string>
  /** Requests that deserved an answer and got none; the first few. */
  readonly unanswered: ReadonlyArray<string>
  readonly calls: number
  readonly answered: number
  /** How often each status was given. */
  readonly statuses: Readonly<Record<string, number>>
  /** Bytes a message leaves behind, by a line through the second half, after collecting. */
  readonly heapBytesPerMessage: number
  readonly heapBytes: { readonly middle: number; readonly end: number }
  /** Calls the server still knows in the end. */
  readonly left: number
}

const samples = 40
const mostTold = 10

/** Says `messages` wrong things and reports. Takes about 1 ms for each. */
export const fuzzSip = async ({ messages, onProgress, seed }: FuzzOptions): Promise<FuzzReport> => {
  const chance = chanceOf(seed)
  const collect = collector()
  const faults: Array<string> = []
  const unanswered: Array<string> = []
  const statuses: Record<string, number> = {}
  const heap: Array<readonly [said: number, bytes: number]> = []
  const timings = { ...defaultTimings, lingerMs: { unreliable: 2, reliable: 2 }, ackMs: 50, referMs: 50, goodbyeMs: 0 }
  const calls = new CallTable()
  const scope = Scope.makeUnsafe()
  const run = await Effect.runPromise(Scope.provide(FiberSet.makeRuntime<never, void>(), scope))
  const legs = new Set<PhoneLeg>()
  const ringing = new Set<IncomingCall>()
  const counts = { said: 0, calls: 0, answered: 0 }
  let replies: Array<string> = []

  const fault = (error: unknown): void => {
    if (faults.length < mostTold) faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  process.on("unhandledRejection", fault)
  process.on("uncaughtException", fault)

  const flow: Flow = {
    transport: "udp",
    remote: { address: "192.0.2.1", port: 5060 },
    reliable: true,
    send: (text) => {
      replies.push(text)
      const status = text.slice(8, 11)
      if (text.startsWith("SIP/2.0 ")) statuses[status] = (statuses[status] ?? 0) + 1
    }
  }
  const onMessage = makeInbound({
    calls,
    timings,
    run,
    userAgent: "Parley",
    hereFor: async () => ({ signalling: "192.0.2.10:5060", media: "192.0.2.10" }),
    makeMedia: async () => silentMedia(),
    isClosed: () => false,
    onFault: fault,
    trunkOf: async (dialed) =>
      dialed.includes("9") ? undefined : { id: "t", allowedAddresses: ["192.0.2.0/24"], digest: undefined },
    onCall: (call) => {
      counts.calls++
      ringing.add(call)
      call.onCancelled(() => ringing.delete(call))
      if (chance.happens(0.6)) call.ring()
      if (chance.happens(0.2)) call.refuse(486)
      else if (chance.happens(0.85)) {
        void call.answer().then((leg) => {
          if (leg === undefined) return
          counts.answered++
          legs.add(leg)
          leg.attach({
            onFrame: () => undefined,
            onEvent: () => undefined,
            onDigit: () => undefined,
            onClosed: () => void legs.delete(leg)
          })
          if (chance.happens(0.1)) void leg.telephone?.refer("sip:x@192.0.2.2", {})
        }, fault)
      }
    }
  })

  const say = async (text: string): Promise<ReadonlyArray<string>> => {
    replies = []
    counts.said++
    onMessage(text, flow)
    for (let turns = 0; turns < 3; turns++) await turn()
    return replies
  }

  const strayed = async (): Promise<void> => {
    const whole = stray(chance, `f${counts.said.toString(36)}`)
    const text = chance.happens(0.9) ? mutated(whole, chance) : whole
    const heard = await say(text)
    if (heard.length === 0 && deserves(text) && unanswered.length < mostTold) unanswered.push(text)
  }

  const walked = async (): Promise<void> => {
    const name = `w${counts.said.toString(36)}`
    const callId = `${name}@fuzz`
    let cseq = 1
    let toTag = ""
    const base = () => ({ callId, fromTag: name, toTag, extra: extras(chance) })
    const maybe = (text: string): string => (chance.happens(0.3) ? mutated(text, chance) : text)
    const body = (): { body?: string } => (chance.happens(0.9) ? { body: sdp(chance) } : {})
    const invite = request({ ...base(), method: "INVITE", branch: `z9hG4bK${name}`, cseq, ...body() })
    const heard = await say(chance.happens(0.1) ? mutated(invite, chance) : invite)
    toTag = /^To:.*;tag=([^;\s]+)/im.exec(heard.at(-1) ?? "")?.[1] ?? ""
    for (let steps = 1 + chance.below(9); steps > 0; steps--) {
      const asked = replies.find((text) => !text.startsWith("SIP/2.0 "))
      if (asked !== undefined && chance.happens(0.7)) {
        const reply = bareReply(asked, chance.one([200, 202, 401, 404, 481, 491, 500]))
        if (reply !== undefined) await say(maybe(reply))
        continue
      }
      const method = chance.one("ACK ACK INFO UPDATE INVITE BYE CANCEL PRACK OPTIONS NOTIFY REFER MESSAGE".split(" "))
      const isOld = method === "ACK" || method === "CANCEL"
      if (!isOld) cseq++
      const offer = method === "INVITE" || method === "UPDATE" || chance.happens(0.1)
      const sipfrag = { body: "SIP/2.0 200 OK\r\n", type: "message/sipfrag" }
      const keys = { body: "Signal=5\r\n", type: "application/dtmf-relay" }
      await say(
        maybe(
          request({
            ...base(),
            method,
            branch: isOld && chance.happens(0.5) ? `z9hG4bK${name}` : `z9hG4bK${name}${counts.said}`,
            cseq: isOld ? 1 : cseq,
            ...(method === "NOTIFY" ? sipfrag : method === "INFO" ? keys : offer ? body() : {})
          })
        )
      )
    }
    for (const call of ringing) call.refuse(480)
    ringing.clear()
    for (const leg of legs) leg.close("agent_hangup")
    legs.clear()
  }

  const every = Math.max(1, Math.floor(messages / samples))
  let sampled = 0
  const beganMs = performance.now()
  while (counts.said < messages) {
    await (chance.happens(0.9) ? strayed() : walked())
    if (Math.floor(counts.said / every) > sampled) {
      sampled = Math.floor(counts.said / every)
      // What a call answers repeats for is over.
      await rest(15)
      collect()
      const bytes = process.memoryUsage().heapUsed
      heap.push([counts.said, bytes])
      onProgress?.(counts.said, bytes)
    }
  }
  const tookMs = performance.now() - beganMs
  await rest(150)
  const left = calls.liveCount
  await Effect.runPromise(Scope.close(scope, Exit.void))
  process.off("unhandledRejection", fault)
  process.off("uncaughtException", fault)
  const later = heap.slice(Math.floor(heap.length / 2))
  return {
    messages: counts.said,
    tookMs,
    faults,
    unanswered,
    calls: counts.calls,
    answered: counts.answered,
    statuses,
    heapBytesPerMessage: slopeOf(later),
    heapBytes: { middle: later[0]?.[1] ?? 0, end: later.at(-1)?.[1] ?? 0 },
    left
  }
}

/** A request that is whole enough to be answered. */
const deserves = (text: string): boolean => {
  const whole = addBranch(unfolded(text))
  const seen = peekHeaders(whole)
  if (seen?.method === undefined || seen.method === "ACK" || normalise(whole) === undefined) return false
  return bareReply(whole, 400) !== undefined && parse(normalise(whole) ?? "") !== undefined
}

const slopeOf = (points: ReadonlyArray<readonly [number, number]>): number => {
  const [x, y] = [0, 1].map((i) => points.reduce((sum, point) => sum + (point[i] ?? 0), 0) / points.length) as [
    number,
    number
  ]
  const over = points.reduce((sum, [a, b]) => sum + (a - x) * (b - y), 0)
  const under = points.reduce((sum, [a]) => sum + (a - x) ** 2, 0)
  return under === 0 ? 0 : over / under
}

const collector = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  return runInNewContext("gc") as () => void
}

const fits = (description: string): boolean => {
  const media = readSdp(description)
  return media !== undefined && agree(media, false) !== undefined
}

/** Descriptions are read as in the field; nothing sounds. */
const silentMedia = (): Media => {
  const ours = "v=0\r\no=- 1 1 IN IP4 192.0.2.10\r\ns=-\r\nc=IN IP4 192.0.2.10\r\nt=0 0\r\nm=audio 4000 RTP/AVP 0\r\n"
  return {
    offer: () => ours,
    answer: async (offer) => (fits(offer) ? ours : undefined),
    accept: async (answer) => fits(answer),
    current: () => ours,
    direction: () => "sendrecv",
    sound: () => ({ playRate: 8000, play: () => undefined, hear: () => undefined, sendDigits: () => undefined }),
    close: () => undefined
  }
}
