// The child process: one decoder, fed by messages.
import { dropPrivileges, liveWithParent } from "../workers/childProcess.ts"
import { Decoder } from "./Decoder.ts"
import type { FromRecogniser, ToRecogniser } from "./PocketSphinxMessage.ts"
import type { PocketSphinxInstallation } from "./PocketSphinxInstallation.ts"
import { Recognition } from "./Recognition.ts"

liveWithParent()

const tell = (message: FromRecogniser): void => {
  process.send?.(message)
}

const installation = JSON.parse(process.argv[2] ?? "{}") as PocketSphinxInstallation
const recognition = new Recognition(new Decoder(installation))
dropPrivileges()
let shown = ""

const handle = (message: ToRecogniser): void => {
  switch (message._tag) {
    case "Audio": {
      const text = recognition.accept(message.samples)
      tell({ _tag: "Digested", samples: message.samples.length })
      if (text !== shown && text !== "") tell({ _tag: "Partial", utterance: message.utterance, text })
      shown = text
      return
    }
    case "Commit":
      shown = ""
      return tell({ _tag: "Final", utterance: message.utterance, ...recognition.commit() })
    case "Discard":
      shown = ""
      return recognition.discard()
    case "Reset":
      shown = ""
      return recognition.reset()
  }
}

process.on("message", handle)
tell({ _tag: "Ready" })
