// What every `Leg` does, whatever carries it: one suite, run by the fake leg of the rehearsals and by each transport. An
// adapter brings a leg and a far side to drive it with; how long something takes to cross is the adapter's own affair.
import { describe, expect, it } from "vitest"
import type { ClientEvent } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"
import { frameMs, hearingRate, type Leg, type LegListener } from "../leg/Leg.ts"

/** The other end of a leg. What it does has reached the leg when the promise resolves. */
export interface FarSide {
  readonly leg: Leg
  /** Says 20 ms frames of sound, this many; each is heard as one frame. */
  readonly speaks: (frames: number) => Promise<void>
  /** An event of a client app; undefined where the far side is no app. */
  readonly sends?: ((event: ClientEvent) => Promise<void>) | undefined
  /** Presses one key; undefined where it has none. */
  readonly presses?: ((digit: string) => Promise<void>) | undefined
  /** Goes away by itself. */
  readonly leaves: (how: "left" | "lost" | "failed") => Promise<void>
  /** How many frames of sound, other than silence, have reached the far side so far. */
  readonly heard: () => number
  /** How many messages (`tell`) have; undefined where it can read none. */
  readonly told?: (() => number) | undefined
  /** Keys that reached it; undefined for a leg that is no telephone. */
  readonly pressed?: (() => string) | undefined
  /** How often the leg was released: codecs, ports, dialog. */
  readonly released: () => number
}

/** Every reason for which the service closes a leg. */
const reasons: ReadonlyArray<EndReason> = [
  "user_hangup",
  "agent_hangup",
  "heartbeat_timeout",
  "room_join_timeout",
  "agent_join_timeout",
  "conversation_timeout",
  "llm_endpoint_failure",
  "internal_error",
  "dial_failed",
  "cancelled",
  "escalated"
]
const ways = ["left", "lost", "failed"] as const

const listen = () => {
  const log = {
    frames: 0,
    rates: new Set<number>(),
    events: [] as Array<string>,
    digits: "",
    closed: [] as Array<string>
  }
  const listener: LegListener = {
    onFrame: (samples) => {
      log.frames++
      log.rates.add((samples.length * 1000) / frameMs)
    },
    onEvent: (event) => void log.events.push(event.type),
    onDigit: (digit) => (log.digits += digit),
    onClosed: (how) => void log.closed.push(how)
  }
  return { listener, log }
}

const attach = async (make: () => Promise<FarSide>) => {
  const far = await make()
  const { listener, log } = listen()
  far.leg.attach(listener)
  return { far, log, leg: far.leg }
}

const loud = (leg: Leg): Int16Array => {
  const samples = (leg.playRate * frameMs) / 1000
  return Int16Array.from({ length: samples }, (_, i) => 8_000 * Math.sin((2 * Math.PI * 500 * i) / leg.playRate))
}

const activity: ClientEvent = { type: "user.activity" }

/** Runs the suite. `make` gives a leg that nobody listens to yet; `close` what a test leaves behind. */
export const legCases = (name: string, make: () => Promise<FarSide>): void => {
  describe(`${name} as a Leg`, () => {
    it("hears frames of 20 ms at 16 kHz", async () => {
      const { far, leg, log } = await attach(make)
      await far.speaks(5)
      expect(log.frames).toBeGreaterThanOrEqual(4)
      expect([...log.rates]).toEqual([hearingRate])
      leg.close("user_hangup")
    })

    it("plays what it is given at its rate, and silence in between", async () => {
      const { far, leg } = await attach(make)
      const frame = loud(leg)
      for (let i = 0; i < 3; i++) leg.play(frame)
      for (let i = 0; i < 3; i++) leg.play(undefined)
      leg.play(frame)
      await far.speaks(1)
      // A codec may smear sound into the silence beside it.
      expect(far.heard()).toBeGreaterThanOrEqual(3)
      expect(far.heard()).toBeLessThanOrEqual(5)
      leg.close("user_hangup")
    })

    it("holds events and digits until somebody listens, in order", async () => {
      const far = await make()
      const { listener, log } = listen()
      await far.sends?.(activity)
      await far.sends?.({ type: "user.interrupt" })
      await far.presses?.("4")
      await far.presses?.("2")
      far.leg.attach(listener)
      expect(log.events).toEqual(far.sends === undefined ? [] : ["user.activity", "user.interrupt"])
      expect(log.digits).toBe(far.presses === undefined ? "" : "42")
      await far.presses?.("#")
      expect(log.digits).toBe(far.presses === undefined ? "" : "42#")
      far.leg.close("user_hangup")
    })

    it("tells what there is a screen for", async () => {
      const { far, leg } = await attach(make)
      leg.tell({ _tag: "State", state: "thinking" })
      if (far.told !== undefined) expect(far.told()).toBe(1)
      leg.close("user_hangup")
    })

    it("sends keys, where it is a telephone", async () => {
      const { far, leg } = await attach(make)
      expect(leg.telephone === undefined).toBe(far.pressed === undefined)
      leg.telephone?.sendDigits("12")
      for (let ticks = 0; ticks < 40; ticks++) leg.play(undefined)
      await far.speaks(1)
      if (far.pressed !== undefined) expect(far.pressed()).toBe("12")
      leg.close("user_hangup")
    })

    it.each(reasons)("closes for %s: once, without being told so, and nothing crosses any more", async (reason) => {
      const { far, leg, log } = await attach(make)
      leg.close(reason)
      leg.close("internal_error")
      const before = { frames: log.frames, heard: far.heard(), told: far.told?.() }
      leg.play(loud(leg))
      leg.tell({ _tag: "State", state: "idle" })
      await far.sends?.(activity)
      await far.presses?.("1")
      await far.speaks(2)
      await far.leaves("left")
      expect({ frames: log.frames, heard: far.heard(), told: far.told?.() }).toEqual(before)
      expect([log.events, log.digits, log.closed]).toEqual([[], "", []])
      expect(far.released()).toBe(1)
    })

    it.each(ways)("tells once that the far side has %s, however it goes on", async (how) => {
      const { far, leg, log } = await attach(make)
      await far.leaves(how)
      await far.leaves("left")
      await far.sends?.(activity)
      await far.speaks(1)
      leg.close("user_hangup")
      expect(log.closed).toEqual([how])
      expect([log.events, log.frames]).toEqual([[], 0])
      expect(far.released()).toBe(1)
    })
  })
}
