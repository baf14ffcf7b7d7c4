// A leg without a network, for rehearsals: the caller's side is scripted on the Effect Clock, everything
// the agent does is kept with its time. Voice is a loud tone, silence is zeros.
import { Clock, Effect } from "effect"
import type { ClientEvent } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"
import { frameMs, hearingRate, type Leg, type LegListener, type LegMessage } from "../leg/Leg.ts"

const frameSamples = (hearingRate * frameMs) / 1000

/** A leg and its caller, with everything the agent did kept. */
export interface FakeLeg extends Leg {
  readonly caller: {
    /** Loud frames for this long. */
    readonly speaks: (ms: number) => Effect.Effect<void>
    /** A single tone for this long, as after an answering machine's greeting. */
    readonly beeps: (ms: number) => Effect.Effect<void>
    /** Silent frames for this long; recognition needs some to notice a pause. */
    readonly pauses: (ms: number) => Effect.Effect<void>
    readonly sends: (event: ClientEvent) => void
    readonly presses: (digit: string) => void
    readonly leaves: (how?: "left" | "lost" | "failed") => void
  }
  /** Milliseconds of reply audio played so far. */
  readonly playedMs: () => number
  /** When the last audible frame left, milliseconds on the clock; -1 before. */
  readonly lastPlayedAt: () => number
  readonly messages: ReadonlyArray<{ readonly at: number; readonly message: LegMessage }>
  readonly closed: () => EndReason | null
  /** How often it was closed. */
  readonly closes: () => number
  /** Keys that the agent pressed, and where it sent the call. */
  readonly pressed: Array<string>
  readonly referred: Array<string>
  /** The frame as played, for those who listen on. */
  onPlayed: ((frame: Int16Array) => void) | undefined
}

/** `telephone`: what a REFER comes to. */
export const make = Effect.fnUntraced(function* (
  playRate = 24_000,
  telephone?: "transferred" | "refused"
): Effect.fn.Return<FakeLeg> {
  const clock = yield* Clock.Clock
  const now = (): number => clock.currentTimeMillisUnsafe()
  const loud = tone(200)
  const beep = tone(1_000)
  const quiet = new Int16Array(frameSamples)
  const messages: Array<{ readonly at: number; readonly message: LegMessage }> = []
  const early: Array<(to: LegListener) => void> = []
  let listener: LegListener | undefined
  let played = 0
  let lastPlayedAt = -1
  let reason: EndReason | null = null
  let left = false
  const isOver = (): boolean => left || reason !== null
  /** What comes before somebody listens is held; nothing comes after the end. */
  const reach = (act: (to: LegListener) => void): void => {
    if (isOver()) return
    if (listener === undefined) early.push(act)
    else act(listener)
  }
  let closes = 0

  const frames = (frame: Int16Array, ms: number): Effect.Effect<void> =>
    Effect.gen(function* () {
      for (let sent = 0; sent < ms; sent += frameMs) {
        yield* Effect.sleep(frameMs)
        if (!isOver()) listener?.onFrame(frame)
      }
    })

  const pressed: Array<string> = []
  const referred: Array<string> = []
  const leg: FakeLeg = {
    playRate,
    pressed,
    referred,
    telephone:
      telephone === undefined
        ? undefined
        : {
            sendDigits: (digits) => void pressed.push(digits),
            refer: (target) => {
              referred.push(target)
              return Promise.resolve(telephone)
            }
          },
    attach: (to) => {
      listener = to
      for (const act of early.splice(0)) act(to)
    },
    play: (frame) => {
      if (frame === undefined || isOver()) return
      played++
      lastPlayedAt = now()
      leg.onPlayed?.(frame)
    },
    tell: (message) => void (reason === null && messages.push({ at: now(), message })),
    close: (why) => {
      closes++
      reason ??= why
    },
    caller: {
      speaks: (ms) => frames(loud, ms),
      beeps: (ms) => frames(beep, ms),
      pauses: (ms) => frames(quiet, ms),
      sends: (event) => reach((to) => to.onEvent(event)),
      presses: (digit) => reach((to) => to.onDigit(digit)),
      leaves: (how = "left") => {
        reach((to) => to.onClosed(how))
        left = true
      }
    },
    playedMs: () => played * frameMs,
    lastPlayedAt: () => lastPlayedAt,
    messages,
    closed: () => reason,
    closes: () => closes,
    onPlayed: undefined
  }
  return leg
})

const tone = (hertz: number): Int16Array =>
  Int16Array.from({ length: frameSamples }, (_, i) =>
    Math.round(8_000 * Math.sin((2 * Math.PI * hertz * i) / hearingRate))
  )
