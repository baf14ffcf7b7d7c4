// A leg that is recorded: what the caller says and what the agent plays, each on a track of its own, both on the clock
// of the call; and whom the caller is handed to, on a third. Sound is handed on first and copied then. Plain calls on
// the media thread.
import type { EndReason } from "@parley/contract/EndReason"
import { frameMs, hearingRate, type Leg, type LegListener, type LegMessage } from "./Leg.ts"
import { TrackTimeline } from "./TrackTimeline.ts"

/** Takes batches of a track; copies the samples, which are reused. Must not throw or wait. */
export interface TrackSink {
  readonly write: (silence: number, samples: Int16Array) => void
}

/** Where the tracks go. */
export interface RecordedLegOptions {
  /** At `hearingRate`. */
  readonly user: TrackSink
  /** At the leg's `playRate`. */
  readonly agent: TrackSink
  /** At the leg's `playRate`; asked for when somebody else joins. */
  readonly human?: (() => TrackSink) | undefined
  /** Monotonic milliseconds. */
  readonly nowMs: () => number
}

/** The leg, as its conversation sees it, with both sides copied to the sinks until it is over. */
export class RecordedLeg implements Leg {
  readonly playRate: number
  readonly #leg: Leg
  readonly #user: TrackTimeline
  readonly #agent: TrackTimeline
  readonly #openHuman: (() => TrackSink) | undefined
  #human: TrackTimeline | undefined
  readonly #nowMs: () => number
  readonly #startedMs: number
  #over = false

  constructor(leg: Leg, { agent, human, nowMs, user }: RecordedLegOptions) {
    this.#openHuman = human
    this.playRate = leg.playRate
    this.#leg = leg
    this.#nowMs = nowMs
    this.#startedMs = nowMs()
    this.#user = new TrackTimeline(hearingRate, user.write)
    this.#agent = new TrackTimeline(leg.playRate, agent.write)
  }

  get telephone(): Leg["telephone"] {
    return this.#leg.telephone
  }

  attach(listener: LegListener): void {
    this.#leg.attach({
      ...listener,
      onFrame: (samples) => {
        listener.onFrame(samples)
        if (!this.#over) this.#user.place(samples, Math.max(0, this.#sinceStart() - frameMs))
      },
      onClosed: (how) => {
        this.finish()
        listener.onClosed(how)
      }
    })
  }

  play(frame: Int16Array | undefined): void {
    this.#leg.play(frame)
    if (this.#over) return
    const at = this.#sinceStart()
    const speaker = this.#human ?? this.#agent
    if (frame === undefined) speaker.rest()
    else speaker.place(frame, at)
    this.#user.advance(at)
    this.#agent.advance(at)
    this.#human?.advance(at)
  }

  joined(): void {
    const sink = this.#over || this.#human !== undefined ? undefined : this.#openHuman?.()
    if (sink === undefined) return
    this.#agent.rest()
    this.#human = new TrackTimeline(this.playRate, sink.write)
  }

  tell(message: LegMessage): void {
    this.#leg.tell(message)
  }

  close(reason: EndReason): void {
    this.finish()
    this.#leg.close(reason)
  }

  /** Nothing is recorded from now on, and all that was is handed on. Idempotent. */
  finish(): void {
    if (this.#over) return
    this.#over = true
    const at = this.#sinceStart()
    this.#user.finish(at)
    this.#agent.finish(at)
    this.#human?.finish(at)
  }

  #sinceStart(): number {
    return this.#nowMs() - this.#startedMs
  }
}
