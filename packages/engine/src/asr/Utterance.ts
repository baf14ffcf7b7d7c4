// The audio of the running utterance, kept until its words are there, so that a recogniser that dies is
// replaced without losing what was said; and the short run-up before a voice set in.

/** Heard before the voice was noticed, and given to the recogniser with it. */
const runUpFrames = 15
/** Older audio slides out: 30 s of 20 ms frames. */
const keepFrames = 1_500

/** Frames of 20 ms at 16 kHz; keeps 300 ms of run-up and at most 30 s of speech. */
export class Utterance {
  private runUp: Array<Int16Array> = []
  private said: Array<Int16Array> = []

  /** Copies a frame without voice into the run-up. */
  wait(frame: Int16Array): void {
    this.runUp.push(frame.slice())
    if (this.runUp.length > runUpFrames) this.runUp.shift()
  }

  /** Copies a frame of the running utterance. */
  say(frame: Int16Array): void {
    this.said.push(frame.slice())
    if (this.said.length > keepFrames) this.said.shift()
  }

  /** The voice set in: the run-up becomes part of the utterance, and is given to `push`. */
  begin(push: (frame: Int16Array) => void): void {
    for (const frame of this.runUp) push(frame)
    this.said.push(...this.runUp)
    this.runUp = []
  }

  /** Everything said and not yet forgotten, for a recogniser that starts late. */
  replay(push: (frame: Int16Array) => void): void {
    for (const frame of this.said) push(frame)
  }

  /** The words are there. */
  forget(): void {
    this.said = []
  }
}
