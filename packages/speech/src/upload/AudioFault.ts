// Why a recording is refused. The message is for the person who sent it.
import { Data } from "effect"

export type AudioFaultReason =
  /** No known container: headerless PCM, AIFF, WMA, AMR, text, nothing at all. */
  | "NotAudio"
  /** A known container with a codec that is not read here; AAC where no ffmpeg is installed. */
  | "Unsupported"
  /** Begins like audio and cannot be decoded. */
  | "Damaged"
  | "TooShort"
  | "TooLong"
  | "Silent"
  | "Clipped"
  /** Sound, but no voice in it. */
  | "Unvoiced"

/** The one error of uploaded audio. */
export class AudioFault extends Data.TaggedError("AudioFault")<{
  readonly reason: AudioFaultReason
  /** For people: what is wrong and what would be right. */
  readonly message: string
}> {}
