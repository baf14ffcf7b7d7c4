// SPDX-License-Identifier: GPL-3.0-only
// The words between the adapter and its thread.

export interface EspeakJob {
  readonly id: number
  readonly text: string
  /** As espeak-ng names languages: `en-us`. */
  readonly language: string
  /** Words in a minute; 175 is its own pace. */
  readonly rate: number
}

export interface EspeakWord {
  /** First character in the text, in code points from 0. */
  readonly at: number
  readonly startMs: number
}

export type FromEspeak =
  | { readonly _tag: "Ready"; readonly languages: ReadonlyArray<{ readonly language: string; readonly name: string }> }
  | { readonly _tag: "Sound"; readonly id: number; readonly samples: Int16Array; readonly sampleRate: number }
  | { readonly _tag: "Done"; readonly id: number; readonly words: ReadonlyArray<EspeakWord> }
  | { readonly _tag: "Failed"; readonly id: number }

/** Jobs have a place here, by their number: set to 1 to stop one. */
export const stopPlaces = 1024
