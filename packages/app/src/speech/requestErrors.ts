// The API errors of speech requests. Whose fault a failure of an engine is decides the status: 400 for what the caller could
// change, 503 for overload, 502 for everything else. The engine's own words stay inside, except where they say what the
// caller could change.
import {
  BadGateway,
  BadRequest,
  type PaymentRequired,
  type TooManyRequests,
  Unavailable
} from "@parley/contract/Errors"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { AudioFault } from "@parley/speech/upload/UploadedAudio"

/** Why a speech request fails. Before the first audio it is the answer's status; after it the stream breaks off. */
export type SpeechRequestError = PaymentRequired | TooManyRequests | BadRequest | BadGateway | Unavailable

/** The API error of an engine's failure. */
export const requestErrorOf = (error: SpeechError): BadRequest | BadGateway | Unavailable => {
  switch (error.reason) {
    case "LanguageNotSupported":
      return new BadRequest({ message: `Language not supported: ${error.message}` })
    case "BadRequest":
      return new BadRequest({ message: `The speech engine cannot do this: ${error.message}` })
    case "Overloaded":
      return new Unavailable({ message: "The server cannot process the request due to high load" })
    case "Unavailable":
    case "Timeout":
    case "Unauthorized":
    case "InvalidOutput":
      return new BadGateway({ message: "The speech engine failed" })
  }
}

/** The 400 for a recording that cannot be used. `which`: the field it came in. */
export const audioError = (fault: AudioFault, which = "audio"): BadRequest =>
  new BadRequest({ message: `${which}: ${fault.message}` })
