// The server under test: what is said to it, the calls it has, and what came of everything.
import { setImmediate as turn, setTimeout as rest } from "node:timers/promises"
import { type Effect, Redacted } from "effect"
import type { Dialling, IncomingCall, PhoneLeg, SipServer } from "../phone/Phone.ts"
import { CallTable } from "../sip/CallTable.ts"
import type { Flow } from "../sip/Flow.ts"
import { makeInbound } from "../sip/inbound.ts"
import { makeOutbound } from "../sip/outbound.ts"
import { defaultTimings } from "../sip/timings.ts"
import { oddBody } from "./OddBodies.ts"
import { silentMedia } from "./silentMedia.ts"
import { deserves } from "./deserves.ts"
import { answerTo, bodyOf, calledIn, responseTo, type WalkedDialog } from "./WalkedDialog.ts"
import { type Chance, extras, mutated, perhapsMutated, request, stray } from "./SipGrammar.ts"

const mostTold = 10
/** The 200 of an accepted call is said again after 500 ms, 1.5 s and 3.5 s. */
const openMs = 4_000
/** A call that is over, or never came to be, may have left such timers behind: they get the time to fire. */
const lingerMs = 2_000
const probeEvery = 500
/** A call is accepted by then, or never. */
const acceptTurns = 30
const address = "192.0.2.1"

/** The server, and all that is said to it. Every act is one message or one call. */
export class SipFuzzer {
  readonly #chance: Chance
  readonly #patient: boolean
  readonly calls = new CallTable()
  readonly faults: Array<string> = []
  readonly unanswered: Array<string> = []
  readonly statuses: Record<string, number> = {}
  readonly counts = { said: 0, probes: 0, calls: 0, answered: 0, leftOpen: 0, placed: 0 }
  readonly #legs = new Set<PhoneLeg>()
  readonly #ringing = new Set<IncomingCall>()
  /** Calls that were accepted and are left alone, in the order of their time. */
  readonly #open: Array<{ readonly untilMs: number; readonly end: () => Promise<void> }> = []
  readonly #onMessage: (sent: string, flow: Flow) => void
  readonly #outbound: Pick<SipServer, "dial" | "check">
  #replies: Array<string> = []

  constructor(chance: Chance, run: (call: Effect.Effect<void>) => void, patient: boolean) {
    this.#chance = chance
    this.#patient = patient
    const parts = {
      calls: this.calls,
      timings: {
        ...defaultTimings,
        lingerMs: { unreliable: lingerMs, reliable: lingerMs },
        ackMs: 50,
        referMs: 50,
        goodbyeMs: 0,
        deadMs: 100,
        cancelMs: 50,
        secondMs: 100
      },
      run,
      userAgent: "Parley",
      mayReach: () => true,
      hereFor: async () => ({ signalling: "192.0.2.10:5060", media: "192.0.2.10" }),
      makeMedia: async () => silentMedia(),
      onFault: this.fault
    }
    this.#outbound = makeOutbound({
      ...parts,
      find: async () => [{ transport: "udp", address, port: 5060, host: address }],
      flowTo: async () => this.#flow(true)
    })
    this.#onMessage = makeInbound({
      ...parts,
      isClosed: () => false,
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

  /** Mostly something stray; now and then a call. */
  async act(): Promise<void> {
    const chance = this.#chance.below(100)
    if (chance < 88) await this.#stray()
    else if (chance < 96) await this.#walk()
    else if (chance < 98) await this.#leaveOpen()
    else await this.#place()
    while ((this.#open[0]?.untilMs ?? Infinity) < performance.now()) await this.#open.shift()?.end()
    if (this.counts.said >= probeEvery * (this.counts.probes + 1)) await this.#probe()
  }

  /** Waits until what was left open is over, at most this much longer. */
  async settle(mostMs: number): Promise<void> {
    await rest(openMs)
    for (const { end } of this.#open.splice(0)) await end()
    for (const leg of this.#taken()) leg.close("agent_hangup")
    const limit = performance.now() + mostMs + 1_000
    while (this.calls.liveCount > 0 && performance.now() < limit) await rest(20)
    await this.#probe()
  }

  /** One message outside of any call. */
  async #stray(): Promise<void> {
    const whole = stray(this.#chance, `f${this.counts.said.toString(36)}`)
    const text = this.#chance.happens(0.9) ? mutated(whole, this.#chance) : whole
    const heard = await this.#say(text)
    if (heard.length === 0 && deserves(text)) this.#missing(text)
  }

  /** A clean question, which is always answered. */
  async #probe(): Promise<void> {
    const name = `p${this.counts.probes++}`
    const text = request({
      method: "OPTIONS",
      callId: name,
      branch: `z9hG4bK${name}`,
      cseq: 1,
      fromTag: name,
      toTag: ""
    })
    const heard = await this.#say(text)
    if (!heard.some((reply) => reply.startsWith("SIP/2.0 200 "))) this.#missing(text)
  }

  /** A call: an INVITE, up to nine further messages within it, and its end. */
  async #walk(): Promise<void> {
    const dialog = await this.#invite()
    for (let steps = 1 + this.#chance.below(9); steps > 0; steps--) await this.#step(dialog)
    for (const leg of this.#taken()) leg.close("agent_hangup")
  }

  /** Legs that nobody has hung up yet; what still rings is refused. */
  #taken(): ReadonlyArray<PhoneLeg> {
    for (const call of this.#ringing) call.refuse(480)
    this.#ringing.clear()
    const legs = [...this.#legs]
    this.#legs.clear()
    return legs
  }

  /** An INVITE that is perhaps accepted, and then nothing for seconds: no ACK, no BYE. */
  async #leaveOpen(): Promise<void> {
    const answered = this.counts.answered
    const dialog = await this.#invite(!this.#chance.happens(0.3), false)
    for (let turns = 0; turns < acceptTurns; turns++) await turn()
    dialog.toTag = this.#tagGiven()
    const legs = this.#taken()
    if (dialog.toTag !== "" || this.counts.answered > answered) this.counts.leftOpen++
    // Nobody says a word until the server itself has had enough.
    const isLost = this.#patient && this.#chance.happens(0.1)
    this.#open.push({
      untilMs: performance.now() + openMs,
      end: async () => {
        if (isLost) return
        dialog.cseq++
        if (this.#chance.happens(0.5)) await this.#say(this.#within(dialog, "BYE", `z9hG4bKbye${dialog.branch}`))
        for (const leg of legs) leg.close("agent_hangup")
        // Whatever is left of it: a hang-up of ours waits for this.
        await this.#say(this.#within({ ...dialog, cseq: 1 }, "ACK", `z9hG4bKack${dialog.branch}`))
        dialog.cseq++
        await this.#say(this.#within(dialog, "BYE", `z9hG4bKend${dialog.branch}`))
      }
    })
  }

  async #invite(reliable = true, isMutated = this.#chance.happens(0.1)): Promise<WalkedDialog> {
    const name = `w${this.counts.said.toString(36)}`
    const dialog = { callId: `${name}@fuzz`, branch: name, fromTag: name, cseq: 1, toTag: "" }
    const invite = this.#within(dialog, "INVITE", `z9hG4bK${name}`, oddBody(this.#chance))
    const text = isMutated ? mutated(invite, this.#chance) : invite
    await this.#say(text, reliable)
    dialog.toTag = this.#tagGiven()
    return dialog
  }

  /** The server's, in the latest of its answers; empty for none. */
  #tagGiven(): string {
    return /^To:.*;tag=([^;\s]+)/im.exec(this.#replies.at(-1) ?? "")?.[1] ?? ""
  }

  /** A call that we place: answers with some word wrong, and what the far side says then. */
  async #place(): Promise<void> {
    this.#replies = []
    this.counts.placed++
    const dialling = this.#dial()
    for (let turns = 0; turns < 60 && this.#replies.length === 0; turns++) await turn()
    const invite = this.#replies.find((text) => text.startsWith("INVITE "))
    if (invite !== undefined) {
      const dialog = calledIn(invite)
      for (let answers = this.#chance.below(4); answers > 0; answers--) {
        const reply = answerTo(invite, dialog, this.#chance)
        await this.#say(perhapsMutated(reply, this.#chance))
      }
      for (let steps = this.#chance.below(5); steps > 0; steps--) await this.#step(dialog)
    }
    dialling.cancel()
    const outcome = await dialling.outcome
    if (outcome.status === "answered") outcome.leg.close("agent_hangup")
  }

  #dial(): Dialling {
    const credentials = this.#chance.happens(0.5) ? { username: "a", password: Redacted.make("b") } : undefined
    return this.#outbound.dial({
      trunk: { uri: address, transport: "udp", credentials },
      from: "+15550100",
      to: "+15550177",
      headers: {},
      ringSeconds: 1
    })
  }

  /** An answer to what the server asked last, or another request of the dialog. */
  async #step(dialog: WalkedDialog): Promise<void> {
    const chance = this.#chance
    const asked = this.#replies.find((text) => !text.startsWith("SIP/2.0 "))
    if (asked !== undefined && chance.happens(0.7)) {
      const status = chance.one([200, 202, 401, 404, 481, 491, 500])
      const reply = responseTo(asked, status, "", [], chance.happens(0.3) ? oddBody(chance) : undefined)
      return void (await this.#say(perhapsMutated(reply, chance)))
    }
    const method = chance.one("ACK ACK INFO UPDATE INVITE BYE CANCEL PRACK OPTIONS NOTIFY REFER MESSAGE".split(" "))
    const isOld = method === "ACK" || method === "CANCEL"
    if (!isOld) dialog.cseq++
    const branch =
      isOld && chance.happens(0.5) ? `z9hG4bK${dialog.branch}` : `z9hG4bK${dialog.branch}${this.counts.said}`
    const said = this.#within({ ...dialog, cseq: isOld ? 1 : dialog.cseq }, method, branch, bodyOf(method, chance))
    await this.#say(perhapsMutated(said, chance))
  }

  #within(
    { callId, cseq, fromTag, toTag }: WalkedDialog,
    method: string,
    branch: string,
    body: { readonly entity?: ReadonlyArray<string>; readonly body?: string } = {}
  ): string {
    const extra = method === "BYE" ? [] : extras(this.#chance)
    return request({ method, callId, branch, cseq, fromTag, toTag, extra, ...body })
  }

  async #say(text: string, reliable = true): Promise<ReadonlyArray<string>> {
    this.#replies = []
    this.counts.said++
    this.#onMessage(text, this.#flow(reliable))
    for (let turns = 0; turns < 3; turns++) await turn()
    return this.#replies
  }

  #missing(text: string): void {
    if (this.unanswered.length < mostTold) this.unanswered.push(text)
  }

  /** Not a reliable one: the server says things again by timers of its own, and wants an ACK before there is a leg. */
  #flow(reliable: boolean): Flow {
    return {
      transport: "udp",
      remote: { address, port: 5060 },
      reliable,
      send: (text) => {
        this.#replies.push(text)
        const status = text.slice(8, 11)
        if (text.startsWith("SIP/2.0 ")) this.statuses[status] = (this.statuses[status] ?? 0) + 1
      }
    }
  }

  /** Rings, refuses, answers or does nothing. */
  #onCall(call: IncomingCall): void {
    const chance = this.#chance
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
    if (this.#chance.happens(0.1)) void leg.telephone?.refer("sip:x@192.0.2.2", {})
  }
}
