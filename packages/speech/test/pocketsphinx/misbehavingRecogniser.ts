// A recogniser process for tests: what it does wrong is the first word of its installation's library field.
import type { FromRecogniser, ToRecogniser } from "../../src/pocketsphinx/PocketSphinxMessage.ts"

process.on("disconnect", () => process.exit(0))
const { library } = JSON.parse(process.argv[2] ?? "{}") as { readonly library: string }
const tell = (message: FromRecogniser) => process.send?.(message)

process.on("message", (message: ToRecogniser) => {
  if (message._tag === "Audio" && library === "dies") process.exit(134)
  if (message._tag !== "Commit" || library === "hangs") return
  tell({ _tag: "Final", utterance: message.utterance, text: `by ${process.pid}`, words: [] })
})
if (library === "never-starts") process.exit(1)
tell({ _tag: "Ready" })
