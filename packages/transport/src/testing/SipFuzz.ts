// Says a great many wrong things to the SIP server, without sockets: single messages, and walks through calls
// where some word is wrong. Counts what came of it, and measures what stays in memory.
import { setImmediate as turn, setTimeout as rest } from "node:timers/promises"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Effect, Exit, FiberSet, Scope } from "effect"
import { makeInbound } from "../sip/inbound.ts"
import { CallTable } from "../sip/CallTable.ts"
import type { IncomingCall, PhoneLeg } from "../phone/Phone.ts"
import { bareReply } from "../sip/bareReply.ts"
import type { Flow } from "../sip/Flow.ts"
import { parse } from "../sip/SipCore.ts"
import { addBranch, peekHeaders, normalise, unfolded } from "../sip/text.ts"
import { defaultTimings } from "../sip/timings.ts"
import { type Chance, chanceOf, extras, mutated, request, sdp, stray } from "./SipGrammar.ts"
import { silentMedia } from "./silentMedia.ts"

/** How much to say, and the seed that makes it repeatable. */
export interface FuzzOptions {
  readonly messages: number
  readonly seed: number
  /** How often the heap is collected and measured, evenly over the run. Default 40. */
  readonly samples?: number
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

const mostTold = 10

/** Says `messages` wrong things and reports. Takes about 1 ms for each. */
export const fuzzSip = async (options: FuzzOptions): Promise<FuzzReport> => {
  const scope = Scope.makeUnsafe()
  const run = await Effect.runPromise(Scope.provide(FiberSet.makeRuntime<never, void>(), scope))
  const fuzzer = new Fuzzer(chanceOf(options.seed), run)
  const { fault } = fuzzer
  process.on("unhandledRejection", fault)
  process.on("uncaughtException", fault)
  const beganMs = performance.now()
  const heap = await sayAll(fuzzer, options)
  const tookMs = performance.now() - beganMs
  await rest(150)
  const left = fuzzer.calls.liveCount
  await Effect.runPromise(Scope.close(scope, Exit.void))
  process.off("unhandledRejection", fault)
  process.off("uncaughtException", fault)
  const later = heap.slice(Math.floor(heap.length / 2))
  const { counts, faults, statuses, unanswered } = fuzzer
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

type HeapSample = readonly [said: number, bytes: number]

/** Nine stray messages for each walk through a call; the heap is measured now and then. */
const sayAll = async (
  fuzzer: Fuzzer,
  { messages, onProgress, samples = 40 }: FuzzOptions
): Promise<ReadonlyArray<HeapSample>> => {
  const { chance, counts } = fuzzer
  const collect = collector()
  const heap: Array<HeapSample> = []
  const every = Math.max(1, Math.floor(messages / samples))
  let sampled = 0
  while (counts.said < messages) {
    await (chance.happens(0.9) ? fuzzer.stray() : fuzzer.walk())
    if (Math.floor(counts.said / every) <= sampled) continue
    sampled = Math.floor(counts.said / every)
    // What a call answers repeats for is over.
    await rest(15)
    collect()
    const bytes = process.memoryUsage().heapUsed
    heap.push([counts.said, bytes])
    onProgress?.(counts.said, bytes)
  }
  return heap
}

/** The server under test, the calls it has, and what came of everything that was said to it. */
class Fuzzer {
  readonly chance: Chance
  readonly calls = new CallTable()
  readonly faults: Array<string> = []
  readonly unanswered: Array<string> = []
  readonly statuses: Record<string, number> = {}
  readonly counts = { said: 0, calls: 0, answered: 0 }
  readonly #legs = new Set<PhoneLeg>()
  readonly #ringing = new Set<IncomingCall>()
  readonly #onMessage: (sent: string, flow: Flow) => void
  #replies: Array<string> = []

  constructor(chance: Chance, run: (call: Effect.Effect<void>) => void) {
    this.chance = chance
    this.#onMessage = makeInbound({
      calls: this.calls,
      timings: { ...defaultTimings, lingerMs: { unreliable: 2, reliable: 2 }, ackMs: 50, referMs: 50, goodbyeMs: 0 },
      run,
      userAgent: "Parley",
      mayReach: () => true,
      hereFor: async () => ({ signalling: "192.0.2.10:5060", media: "192.0.2.10" }),
      makeMedia: async () => silentMedia(),
      isClosed: () => false,
      onFault: this.fault,
      trunkOf: async (dialed) =>
        dialed.includes("9") ? undefined : { id: "t", allowedAddresses: ["192.0.2.0/24"], digest: undefined },
      onCall: (call) => this.#onCall(call)
    })
  }

  /** Keeps the first few exceptions. */
  readonly fault = (error: unknown): void => {
    if (this.faults.length >= mostTold) return
    this.faults.push(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }

  readonly #flow: Flow = {
    transport: "udp",
    remote: { address: "192.0.2.1", port: 5060 },
    reliable: true,
    send: (text) => {
      this.#replies.push(text)
      const status = text.slice(8, 11)
      if (text.startsWith("SIP/2.0 ")) this.statuses[status] = (this.statuses[status] ?? 0) + 1
    }
  }

  /** One message outside of any call. */
  async stray(): Promise<void> {
    const { chance } = this
    const whole = stray(chance, `f${this.counts.said.toString(36)}`)
    const text = chance.happens(0.9) ? mutated(whole, chance) : whole
    const heard = await this.#say(text)
    if (heard.length === 0 && deserves(text) && this.unanswered.length < mostTold) this.unanswered.push(text)
  }

  /** A call: an INVITE, up to nine further messages within it, and its end. */
  async walk(): Promise<void> {
    const { chance } = this
    const name = `w${this.counts.said.toString(36)}`
    const dialog: WalkedDialog = { name, callId: `${name}@fuzz`, cseq: 1, toTag: "" }
    const invite = request({
      ...this.#base(dialog),
      method: "INVITE",
      branch: `z9hG4bK${name}`,
      cseq: dialog.cseq,
      ...this.#body()
    })
    const heard = await this.#say(chance.happens(0.1) ? mutated(invite, chance) : invite)
    dialog.toTag = /^To:.*;tag=([^;\s]+)/im.exec(heard.at(-1) ?? "")?.[1] ?? ""
    for (let steps = 1 + chance.below(9); steps > 0; steps--) await this.#step(dialog)
    for (const call of this.#ringing) call.refuse(480)
    this.#ringing.clear()
    for (const leg of this.#legs) leg.close("agent_hangup")
    this.#legs.clear()
  }

  /** An answer to what the server asked last, or another request of the dialog. */
  async #step(dialog: WalkedDialog): Promise<void> {
    const { chance } = this
    const asked = this.#replies.find((text) => !text.startsWith("SIP/2.0 "))
    if (asked !== undefined && chance.happens(0.7)) {
      const reply = bareReply(asked, chance.one([200, 202, 401, 404, 481, 491, 500]))
      if (reply !== undefined) await this.#say(this.#maybe(reply))
      return
    }
    const method = chance.one("ACK ACK INFO UPDATE INVITE BYE CANCEL PRACK OPTIONS NOTIFY REFER MESSAGE".split(" "))
    const isOld = method === "ACK" || method === "CANCEL"
    if (!isOld) dialog.cseq++
    const offer = method === "INVITE" || method === "UPDATE" || chance.happens(0.1)
    const sipfrag = { body: "SIP/2.0 200 OK\r\n", type: "message/sipfrag" }
    const keys = { body: "Signal=5\r\n", type: "application/dtmf-relay" }
    const { name } = dialog
    await this.#say(
      this.#maybe(
        request({
          ...this.#base(dialog),
          method,
          branch: isOld && chance.happens(0.5) ? `z9hG4bK${name}` : `z9hG4bK${name}${this.counts.said}`,
          cseq: isOld ? 1 : dialog.cseq,
          ...(method === "NOTIFY" ? sipfrag : method === "INFO" ? keys : offer ? this.#body() : {})
        })
      )
    )
  }

  #base({ callId, name, toTag }: WalkedDialog) {
    return { callId, fromTag: name, toTag, extra: extras(this.chance) }
  }

  #body(): { readonly body?: string } {
    return this.chance.happens(0.9) ? { body: sdp(this.chance) } : {}
  }

  #maybe(text: string): string {
    return this.chance.happens(0.3) ? mutated(text, this.chance) : text
  }

  async #say(text: string): Promise<ReadonlyArray<string>> {
    this.#replies = []
    this.counts.said++
    this.#onMessage(text, this.#flow)
    for (let turns = 0; turns < 3; turns++) await turn()
    return this.#replies
  }

  /** Rings, refuses, answers or does nothing. */
  #onCall(call: IncomingCall): void {
    const { chance } = this
    this.counts.calls++
    this.#ringing.add(call)
    call.onCancelled(() => this.#ringing.delete(call))
    if (chance.happens(0.6)) call.ring()
    if (chance.happens(0.2)) call.refuse(486)
    else if (chance.happens(0.85)) {
      void call.answer().then((leg) => {
        if (leg !== undefined) this.#onLeg(leg)
      }, this.fault)
    }
  }

  #onLeg(leg: PhoneLeg): void {
    this.counts.answered++
    this.#legs.add(leg)
    leg.attach({
      onFrame: () => undefined,
      onEvent: () => undefined,
      onDigit: () => undefined,
      onClosed: () => void this.#legs.delete(leg)
    })
    if (this.chance.happens(0.1)) void leg.telephone?.refer("sip:x@192.0.2.2", {})
  }
}

/** Where a walk through a call stands. */
interface WalkedDialog {
  readonly name: string
  readonly callId: string
  cseq: number
  toTag: string
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
