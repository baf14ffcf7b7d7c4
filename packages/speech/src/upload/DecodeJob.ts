// What is asked of an upload inside its thread, and what it answers. A slot either decodes one file or listens to
// samples that come from elsewhere.
import type { DecodeFaultReason } from "@parley/audio/decode/AudioDecoder"
import type { Container } from "@parley/audio/decode/containerOf"
import type { VoiceReport } from "@parley/audio/voice/VoiceListener"

export type DecodeQuestion =
  /** The first question of a decoding slot. */
  | { readonly _tag: "Open"; readonly file: string; readonly sampleRate: number }
  | { readonly _tag: "Next" }
  /** Samples at `listeningRate`. */
  | { readonly _tag: "Analyse"; readonly samples: Int16Array }
  | { readonly _tag: "Report" }

export type DecodeAnswer =
  | { readonly _tag: "Opened"; readonly container: Container }
  /** At most a second; none when there was much to read and nothing to hear yet. */
  | { readonly _tag: "Block"; readonly samples: Int16Array; readonly isLast: boolean }
  | { readonly _tag: "Analysed" }
  | { readonly _tag: "Reported"; readonly report: VoiceReport }
  | { readonly _tag: "Fault"; readonly reason: DecodeFaultReason; readonly message: string }
