// What an engine's failure is to a caller: whose fault it is decides the status (decisions 14). The engine's own
// words stay inside, except where they say what the caller could change.
import { BadGateway, BadRequest, Unavailable } from "@parley/contract/Errors"
import type { SpeechError } from "@parley/speech/ports/SpeechError"
import type { AudioFault } from "@parley/speech/upload/UploadedAudio"

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

/** A recording that cannot be used. */
export const audioError = (fault: AudioFault, which = "audio"): BadRequest =>
  new BadRequest({ message: `${which}: ${fault.message}` })
