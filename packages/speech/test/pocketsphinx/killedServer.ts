// A server process for a test: opens a stream, says its recogniser's process id, and stays until it is killed.
import { Effect } from "effect"
import { makePocketSphinxTranscriber } from "../../src/pocketsphinx/PocketSphinxTranscriber.ts"

const program = Effect.gen(function* () {
  const transcriber = yield* makePocketSphinxTranscriber({
    installation: { library: "works", baseLibrary: "", acousticModel: "", languageModel: "", dictionary: "" },
    file: new URL("./misbehavingRecogniser.ts", import.meta.url)
  })
  const stream = yield* transcriber.open({
    language: "en",
    keyterms: [],
    onEvent: (event) => process.send?.(event.text.slice(3)),
    onFailure: () => {}
  })
  stream.commit()
  yield* Effect.never
})

await Effect.runPromise(Effect.scoped(program))
