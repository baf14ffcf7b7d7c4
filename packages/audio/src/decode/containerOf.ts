// What a file is, by its first bytes and never by its name: names and content types lie.
import { mp3FrameOf } from "./Mp3Frames.ts"

/** The containers that are told apart. */
export type Container =
  | "wav"
  | "mp3"
  | "flac"
  | "ogg-opus"
  | "ogg-vorbis"
  | "ogg-flac"
  /** Ogg with something else first: Speex, Theora, a skeleton. */
  | "ogg-other"
  | "webm"
  | "mp4"
  /** AAC without a container (ADTS). */
  | "aac"
  | "unknown"

/** How much of the beginning `containerOf` wants to see; less is fine for a shorter file. */
export const containerBytes = 16_384

/** By the first `containerBytes` of a file. */
export const containerOf = (start: Uint8Array): Container => {
  const tag = latin(start, 0, 4)
  if ((tag === "RIFF" || tag === "RF64") && latin(start, 8, 12) === "WAVE") return "wav"
  if (tag === "fLaC") return "flac"
  if (tag === "OggS") return oggKind(start)
  if (start[0] === 0x1a && start[1] === 0x45 && start[2] === 0xdf && start[3] === 0xa3) return "webm"
  if (latin(start, 4, 8) === "ftyp") return "mp4"
  if (tag.startsWith("ID3")) return "mp3"
  if (start[0] === 0xff && (start[1]! & 0xf6) === 0xf0) return "aac"
  return hasMp3Frames(start) ? "mp3" : "unknown"
}

const oggKind = (start: Uint8Array): Container => {
  const body = 27 + (start[26] ?? 0)
  if (latin(start, body, body + 8) === "OpusHead") return "ogg-opus"
  if (latin(start, body, body + 7) === "\u0001vorbis") return "ogg-vorbis"
  if (latin(start, body, body + 5) === "\u007fFLAC") return "ogg-flac"
  return "ogg-other"
}

/** Three headers, each where the one before says, within the first bytes: chance does not do that. */
const hasMp3Frames = (start: Uint8Array): boolean => {
  for (let from = 0; from < Math.min(start.length, 4096); from++) {
    let at = from
    let found = 0
    for (let frame = mp3FrameOf(start, at); frame !== undefined; frame = mp3FrameOf(start, at)) {
      at += frame.bytes
      if (++found === 3 || (found === 2 && at === start.length)) return true
    }
  }
  return false
}

const latin = (bytes: Uint8Array, from: number, to: number): string => String.fromCharCode(...bytes.subarray(from, to))
