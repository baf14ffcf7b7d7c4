// Recordings that people send, as samples: any container that is read here, decoded in worker threads and pulled
// block by block, so that an hour of sound is never in memory. Untrusted bytes end in an `AudioFault`, nothing else.
import { Context, Data, type Effect, type Stream } from "effect"
import type { VoiceProfile } from "@parley/audio/voice/VoiceProfile"

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

export class AudioFault extends Data.TaggedError("AudioFault")<{
  readonly reason: AudioFaultReason
  /** For people: what is wrong and what would be right. */
  readonly message: string
}> {}

export interface VoiceExamination {
  readonly durationMs: number
  /** Of it, voiced. */
  readonly voicedMs: number
  /** Root mean square of the voiced parts and the largest sample, dBFS. */
  readonly levelDbfs: number
  readonly peakDbfs: number
  /** Share of samples at full scale, 0 to 1. */
  readonly clipped: number
  readonly profile: VoiceProfile
}

export class UploadedAudio extends Context.Service<
  UploadedAudio,
  {
    /** Mono blocks of at most a second at `sampleRate`. Pulling slowly decodes slowly; a stop ends the work at once. */
    readonly pcm: (file: string, sampleRate: number) => Stream.Stream<Int16Array, AudioFault>
    /** Decodes into a mono 16-bit WAV file at 24 kHz; gives its length. */
    readonly toWav: (file: string, wav: string) => Effect.Effect<{ readonly durationMs: number }, AudioFault>
    /** Is this good enough to learn a voice from? Fails with `TooShort` (1 s), `Silent`, `Clipped` or `Unvoiced`. */
    readonly examine: (file: string) => Effect.Effect<VoiceExamination, AudioFault>
  }
>()("parley/speech/UploadedAudio") {}
