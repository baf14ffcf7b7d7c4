// Ten thousand random calls: whatever happens in whatever order, no state is without a way out, replies are
// begun and closed in pairs, and once the world is fair again the agent speaks, listens or has ended.
import { assert, describe, it } from "@effect/vitest"
import { defaultRules } from "../../src/CallPlan.ts"
import { deadlines, nextDeadline } from "../../src/turn/deadlines.ts"
import { type TurnState, type TurnRules, initial, textOf } from "../../src/turn/TurnState.ts"
import type { Move } from "../../src/turn/Move.ts"
import type { Signal } from "../../src/turn/Signal.ts"
import { step } from "../../src/turn/TurnTaking.ts"

const runs = 10_000
const signalsPerRun = 30

describe("turn-taking under any interleaving", () => {
  it(`speaks, listens or has ended after ${runs} random sequences`, () => {
    for (let seed = 1; seed <= runs; seed++) {
      const random = randomFrom(seed)
      const world = new World(rulesFrom(random))
      for (let i = 0; i < signalsPerRun; i++) world.give(anySignal(random, world.state), random() * 2_000)
      world.becomeFair()
    }
  })

  it("replays a journal of signals to the same moves", () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = randomFrom(seed)
      const rules = rulesFrom(random)
      const world = new World(rules)
      for (let i = 0; i < signalsPerRun; i++) world.give(anySignal(random, world.state), random() * 2_000)
      let state = initial(rules)
      const again: Array<Move> = []
      for (const { at, signal } of world.journal) {
        const [next, moves] = step(state, signal, at)
        state = next
        again.push(...moves)
      }
      assert.deepStrictEqual(again, world.moves)
    }
  })
})

class World {
  state: TurnState
  at = 0
  readonly moves: Array<Move> = []
  readonly journal: Array<{ readonly at: number; readonly signal: Signal }> = []
  /** Replies begun and not closed. */
  readonly replies = new Set<number>()

  constructor(rules: TurnRules) {
    this.state = initial(rules)
    this.give({ _tag: "CallStarted" }, 0)
  }

  /** One signal after `ms`; deadlines in between fire first, as the loop would have it. */
  give(signal: Signal, ms: number): void {
    const until = this.at + ms
    for (let due = nextDeadline(this.state); due !== undefined && due.at <= until; due = nextDeadline(this.state)) {
      this.at = Math.max(this.at, due.at)
      const before = this.state
      this.step({ _tag: "TimePassed" })
      if (this.state.ended === null) assert.notStrictEqual(this.state, before, `a deadline without effect: ${due.name}`)
    }
    this.at = until
    if (signal._tag === "VoiceBegan") this.step({ ...signal, since: until - 64 })
    else if (signal._tag === "VoicePaused") this.step({ ...signal, lastVoicedAt: until - 64 })
    else this.step(signal)
  }

  step(signal: Signal): void {
    this.journal.push({ at: this.at, signal })
    if (signal._tag === "ReplyEnded" || signal._tag === "ReplyFailed") this.replies.delete(signal.reply)
    const [next, moves] = step(this.state, signal, this.at)
    this.state = next
    for (const move of moves) this.check(move)
    this.moves.push(...moves)
    this.checkFloor()
  }

  private check(move: Move): void {
    if (move._tag === "BeginReply") {
      assert.isFalse(this.replies.has(move.reply))
      this.replies.add(move.reply)
    } else if (move._tag === "StopReply" || move._tag === "DiscardReply") {
      assert.isTrue(this.replies.delete(move.reply), `${move._tag} of a reply that is not out`)
    } else if (move._tag === "CommitReply" || move._tag === "PauseReply" || move._tag === "ResumeReply") {
      assert.isTrue(this.replies.has(move.reply), `${move._tag} of a reply that is not out`)
    }
  }

  private checkFloor(): void {
    const { awaiting, ended, speculative, reply, turn, voiceSince } = this.state
    if (ended !== null) return
    const out = [reply?.id, speculative?.id].filter((id) => id !== undefined).sort()
    assert.deepStrictEqual([...this.replies].sort(), out, "the replies out are those of the state")
    const names = deadlines(this.state).map((deadline) => deadline.name)
    const waiting = this.state.voicemail !== null && !this.state.voicemail.left
    if (reply === null && turn === null && !waiting) assert.include(names, "silence")
    if (waiting) assert.include(names, "voicemail")
    if (reply?.pausedAt != null && turn !== null && voiceSince === null) assert.include(names, "noise")
    if (turn !== null && reply === null && voiceSince === null && awaiting === 0) {
      assert.notStrictEqual(textOf(turn), "", "an empty turn is dropped")
      assert.include(names, "turnOver")
    }
  }

  /** The voice pauses, commits are answered, replies sound and end: nothing may be left hanging. */
  becomeFair(): void {
    for (let i = 0; i < 50 && this.state.ended === null; i++) {
      const { awaiting, reply, turn, voiceSince } = this.state
      if (voiceSince !== null) this.give({ _tag: "VoicePaused", lastVoicedAt: this.at }, 10)
      else if (awaiting > 0) this.give({ _tag: "Final", text: "" }, 10)
      else if (reply !== null && reply.pausedAt === null) this.give({ _tag: "ReplyEnded", reply: reply.id }, 10)
      else if (reply !== null || turn !== null) this.give({ _tag: "Partial", text: "" }, 3_000)
      else return
    }
    assert.isNotNull(this.state.ended, `never came to rest: ${JSON.stringify(this.state)}`)
  }
}

const words = [
  "",
  "yes",
  "uh huh",
  "I want to",
  "stop it please",
  "what about sunday",
  "okay",
  "leave a message after the tone"
]

const anySignal = (random: () => number, state: TurnState): Signal => {
  const pick = <A>(from: ReadonlyArray<A>): A => from[Math.floor(random() * from.length)] as A
  const reply = state.reply?.id ?? state.speculative?.id ?? 0
  const choice = random() * 20
  if (choice < 4) return { _tag: "VoiceBegan", since: 0 }
  if (choice < 8) return { _tag: "VoicePaused", lastVoicedAt: 0 }
  if (choice < 10) return { _tag: "Partial", text: pick(words) }
  if (choice < 13) return { _tag: "Final", text: pick(words) }
  if (choice < 15) return { _tag: "ReplyStarted", reply }
  if (choice < 16) return { _tag: "ReplyEnded", reply: state.reply?.id ?? 0 }
  if (choice < 16.7) return { _tag: "ReplyFailed", reply }
  if (choice < 17.2) return { _tag: "HangUpDecided", reply: state.reply?.id ?? 0 }
  if (choice < 17.7) return { _tag: "Typed", text: pick(words), spoken: random() < 0.5 }
  if (choice < 18.2) return { _tag: "Digit", digit: pick(["1", "2", "#"]) }
  if (choice < 18.6) return { _tag: "InterruptAsked" }
  if (choice < 19.2) return { _tag: "NewsArrived" }
  if (choice < 19.4) return { _tag: "BeepHeard" }
  if (choice < 19.8) return { _tag: "ActivitySeen" }
  return random() < 0.1 ? { _tag: "EndAsked", reason: "user_hangup" } : { _tag: "TimePassed" }
}

const rulesFrom = (random: () => number): TurnRules => ({
  ...defaultRules,
  firstMessage: random() < 0.5 ? "off" : "fixed",
  partials: random() < 0.7,
  interruptible: random() < 0.8,
  interruptionSensitivity: (["low", "balanced", "high"] as const)[Math.floor(random() * 3)] ?? "balanced",
  interruptionIgnorePhrases: random() < 0.5 ? ["uh huh", "okay"] : [],
  speculativeResponse: random() < 0.7,
  reengage: random() < 0.5,
  farewell: random() < 0.5,
  hangupAfterMs: 10_000,
  ...(random() < 0.2 ? { voicemail: { action: random() < 0.2 ? "hangup" : "leave_message", message: "Call." } } : {})
})

/** mulberry32. */
const randomFrom = (seed: number) => {
  let a = seed >>> 0
  return (): number => {
    a = (a + 0x6d2b79f5) >>> 0
    let t = Math.imul(a ^ (a >>> 15), a | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
}
