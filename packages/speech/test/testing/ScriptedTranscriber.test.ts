import { Effect } from "effect"
import { makeScriptedTranscriber } from "../../src/testing/ScriptedTranscriber.ts"
import { transcriberCases } from "../cases/transcriberCases.ts"

const loud = new Int16Array(16_000).fill(9000)

transcriberCases(
  "scripted",
  Effect.sync(() => makeScriptedTranscriber({ utterances: ["good morning", "see you"], finalMs: 5 })),
  [
    { samples: loud, expected: "good morning" },
    { samples: loud, expected: "see you" }
  ]
)
