// Plays one reply at a time into a leg, frame by frame on the process's tick, and reports what was
// heard. Plain calls on the media thread.
import type { Leg } from "../leg/Leg.ts"
import type { ReplySound } from "./ReplySound.ts"
import type { Ticking } from "./Pacer.ts"

/** Told on the media thread; none may wait. */
export interface PlayerEvents {
  /** The first sample (or the first text of a silent reply) left. */
  readonly onStarted: (reply: number) => void
  /** All of it was heard. */
  readonly onEnded: (reply: number) => void
  /** Audio ran dry in the middle of a reply; once per gap. */
  readonly onStarved: (reply: number) => void
}

/** Ticked every 20 ms; hands the leg one frame, or silence, per tick. */
export class Player implements Ticking {
  private sound: ReplySound | null = null
  private started = false
  private paused = false
  private starving = false
  /** The first frame of a reply left between two ticks: one silent tick is owed for it. */
  private ahead = false
  private readonly frame: Int16Array
  private readonly leg: Pick<Leg, "play" | "playRate">
  private readonly events: PlayerEvents

  readonly onDefect: (defect: unknown) => void

  /** `onDefect`: the leg or a listener threw; the player has left the round. */
  constructor(leg: Pick<Leg, "play" | "playRate">, events: PlayerEvents, onDefect: (defect: unknown) => void) {
    this.leg = leg
    this.events = events
    this.onDefect = onDefect
    this.frame = new Int16Array(leg.playRate / 50)
  }

  /** This reply is played from now on. Its first frame leaves as soon as it is there, not at the next tick. */
  play(sound: ReplySound): void {
    this.sound = sound
    this.started = false
    this.paused = false
    this.starving = false
    sound.playout.onAudio = () => this.kick(sound)
    this.kick(sound)
  }

  /** No frame of the current reply leaves any more. */
  stop(): void {
    this.sound = null
  }

  /** Silence from the next tick on; the reply keeps its position. */
  pause(): void {
    this.paused = true
  }

  /** Goes on where it was paused. */
  resume(): void {
    this.paused = false
  }

  tick(): void {
    const { sound } = this
    if (sound === null || this.paused) return this.silence()
    if (sound.silent) return this.tellSilently(sound)
    const { playout } = sound
    if (!this.playFrame(sound)) {
      this.silence()
      if (this.started && !this.starving && !playout.complete) {
        this.starving = true
        this.events.onStarved(sound.id)
      }
    }
    if (playout.drained) this.end(sound)
  }

  private kick(sound: ReplySound): void {
    if (this.started || this.paused || sound.silent || this.sound !== sound) return
    this.ahead = this.playFrame(sound) || this.ahead
  }

  private playFrame(sound: ReplySound): boolean {
    if (!sound.playout.read(this.frame)) return false
    this.leg.play(this.frame)
    this.starving = false
    this.start(sound)
    sound.spoken.advance(sound.playout.played)
    return true
  }

  private silence(): void {
    if (this.ahead) this.ahead = false
    else this.leg.play(undefined)
  }

  /** A reply in text only is told as fast as it is written. */
  private tellSilently(sound: ReplySound): void {
    this.silence()
    const { playout } = sound
    if (playout.pushed > playout.played) {
      playout.skip()
      this.start(sound)
      sound.spoken.advance(playout.played)
    }
    if (playout.drained) this.end(sound)
  }

  private start(sound: ReplySound): void {
    if (this.started) return
    this.started = true
    this.events.onStarted(sound.id)
  }

  private end(sound: ReplySound): void {
    this.sound = null
    this.events.onEnded(sound.id)
  }
}
