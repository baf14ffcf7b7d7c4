// What a session may be told beyond its version: which overrides an agent allows, and whether they can be used.
import { systemPromptTokens } from "@parley/contract/AgentConfig/Prompt"
import { BadRequest, invalid } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import type { Overrides } from "@parley/contract/SessionRequest"
import { unknownSystemNames } from "@parley/contract/SystemVariables"
import { exceedsTokens } from "@parley/workspace/agents/TokenCount"
import type { Runnable } from "@parley/workspace/agents/Versions"
import { Effect } from "effect"
import type { VoiceChoice } from "../speech/VoiceChoice.ts"

/** Fails with 400 for an override that is not allowed, with 422 for one that cannot be used. */
export const checkOverrides = Effect.fnUntraced(function* (
  workspace: string,
  overrides: Overrides,
  runnable: Runnable,
  voices: VoiceChoice["Service"]
) {
  for (const [name, value] of Object.entries(overrides)) {
    const permission = name === "first_message_prompt" ? "first_message" : name
    if (value != null && !runnable.overridesAllowed.includes(permission)) {
      return yield* new BadRequest({ message: `The agent does not allow the override ${name}` })
    }
  }
  const faults = (["first_message", "first_message_prompt", "system_prompt"] as const)
    .filter((name) => unknownSystemNames(overrides[name] ?? "").length > 0)
    .map((name) => fault(["body", "overrides", name], "names an unknown system variable"))
  if (faults.length > 0) return yield* invalid(faults)
  const voice = overrides.voice_id
  if (voice && voice !== runnable.config.voice.voice_id) {
    const unknown = invalid([fault(["body", "overrides", "voice_id"], "unknown voice")])
    yield* Effect.mapError(voices.find(workspace, voice), () => unknown)
  }
  if (yield* exceedsTokens(overrides.system_prompt ?? "", systemPromptTokens)) {
    return yield* invalid([fault(["body", "overrides", "system_prompt"], "must be at most 32000 tokens")])
  }
})
