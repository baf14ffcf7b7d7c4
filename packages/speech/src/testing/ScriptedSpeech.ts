// The speech service out of scripted parts, for tests of what is built on it.
import { Effect, Layer } from "effect"
import type { Synthesizer } from "../ports/Synthesizer.ts"
import type { Transcriber } from "../ports/Transcriber.ts"
import type { VoiceActivity } from "../ports/VoiceActivity.ts"
import { Speech } from "../Speech.ts"
import { makeScriptedSynthesizer } from "./ScriptedSynthesizer.ts"
import { makeScriptedTranscriber } from "./ScriptedTranscriber.ts"
import { makeScriptedVoiceActivity } from "./ScriptedVoiceActivity.ts"

export const scriptedSpeech = (
  parts: {
    readonly synthesizer?: Synthesizer
    readonly transcriber?: Transcriber
    readonly voiceActivity?: VoiceActivity
  } = {}
): Layer.Layer<Speech> => {
  const synthesizer = parts.synthesizer ?? makeScriptedSynthesizer()
  return Layer.succeed(Speech, {
    synthesizer,
    transcriber: parts.transcriber ?? makeScriptedTranscriber({ utterances: [] }),
    voiceActivity: parts.voiceActivity ?? makeScriptedVoiceActivity(),
    voices: synthesizer.voices,
    health: Effect.succeed({ tts: [], asr: [], vad: [] })
  })
}
