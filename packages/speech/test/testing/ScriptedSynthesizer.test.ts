import { Effect } from "effect"
import { makeScriptedSynthesizer } from "../../src/testing/ScriptedSynthesizer.ts"
import { synthesizerCases } from "../cases/synthesizerCases.ts"

synthesizerCases(
  "scripted",
  Effect.sync(() => makeScriptedSynthesizer({ firstAudioMs: 5 }))
)
