// What is asked of the recorder's thread, and what it tells. Every question but `Open` is answered once.
import type { RecordingErrorCode } from "@parley/contract/Recording"

/** Samples per second. */
export type RecorderRate = 8000 | 16_000 | 24_000 | 48_000

export type RecorderQuestion =
  | { readonly _tag: "Open"; readonly track: number; readonly path: string; readonly rate: RecorderRate }
  /** `silence` samples of nothing, then `samples`. */
  | { readonly _tag: "Write"; readonly track: number; readonly silence: number; readonly samples: Int16Array }
  /** The end of the file. */
  | { readonly _tag: "Finish"; readonly track: number }
  /** Makes a file whose writer failed or died whole; not one that is open. */
  | { readonly _tag: "Repair"; readonly call: number; readonly path: string }

export type RecorderAnswer =
  | { readonly _tag: "Written"; readonly track: number }
  | { readonly _tag: "Finished"; readonly track: number; readonly durationMs: number }
  /** The track is closed; nothing more is answered for it. */
  | { readonly _tag: "Failed"; readonly track: number; readonly errorCode: RecordingErrorCode }
  /** 0 when no sound is kept, or there is no file. */
  | { readonly _tag: "Repaired"; readonly call: number; readonly durationMs: number; readonly found: boolean }
