// The one error of every speech port. The reason says what happened and whether another try, or the
// next provider, may help; the caller never guesses from a message.
import { Data } from "effect"

export type SpeechErrorReason =
  /** The provider is not there: process gone, connection refused, HTTP 5xx. */
  | "Unavailable"
  /** Nothing, or too little, within its bound: a dead or slow-dripping provider. */
  | "Timeout"
  /** Queue or quota full: 429, pool exhausted. */
  | "Overloaded"
  /** Key refused. */
  | "Unauthorized"
  /** The request itself is wrong for this provider: unknown voice, bad audio. */
  | "BadRequest"
  | "LanguageNotSupported"
  /** It answered success without content: empty audio, unparsable body. */
  | "InvalidOutput"

/** Why a provider did not serve. Every port fails with it and with nothing else. */
export class SpeechError extends Data.TaggedError("SpeechError")<{
  readonly reason: SpeechErrorReason
  readonly provider: string
  /** For people; holds no key, text or address. */
  readonly message: string
}> {
  /** A later try of the same provider may succeed. */
  get isRetryable(): boolean {
    return this.reason === "Unavailable" || this.reason === "Timeout" || this.reason === "Overloaded"
  }
  /** Another provider may serve the same request. */
  get canFailOver(): boolean {
    return this.reason !== "BadRequest"
  }
}
