import type { ReturnedSections } from "@parley/contract/AgentConfig/AgentConfig"
import { describe, expect, it } from "vitest"
import { differences } from "../../src/agent/differences.ts"

const voice: ReturnedSections["voice"] = { voice_id: "", speaking_language: "en", expressive: false, speed: 1 }
const base: ReturnedSections = {
  prompt: {
    system_prompt: "You are a receptionist.",
    first_message_mode: "prompt",
    first_message: "Hello!",
    first_message_prompt: "Greet."
  },
  voice,
  asr: { model: "m", multilingual: false, strict_language: false, keyterms: ["Parley"] },
  conversation: {
    max_duration_seconds: 1800,
    response_wait_ms: 550,
    eagerness: "balanced",
    response_max_wait_ms: null,
    interruptible: true,
    interruption_sensitivity: "balanced",
    interruption_ignore_phrases: [],
    speculative_response: true,
    reengage_enabled: false,
    hangup_after_seconds: 60,
    hangup_farewell_enabled: false,
    record_audio: true,
    timezone: "",
    transfer_destinations: [],
    outbound: { amd_enabled: true, voicemail: { action: "hangup", message: "" } }
  },
  tools: { enabled: true, tool_ids: ["a", "b"], system_tools: { hang_up_call: false } },
  webhooks: { conversation_init: null, post_call: [] },
  knowledge_base: { enabled: false, knowledge_source_ids: [] },
  analysis: { summary: { enabled: true }, data_fields: [], criteria: [] } as unknown as ReturnedSections["analysis"],
  guardrails: { focus: false, manipulation: false } as unknown as ReturnedSections["guardrails"],
  llm: { model: "demo", custom: null }
}

const told = (draft: Partial<ReturnedSections>) =>
  differences(base, { ...base, ...draft }).map(({ changes, section }) => `${section}: ${changes.join("; ")}`)

describe("differences", () => {
  it("of the same are none, in whatever order its keys are", () => {
    expect(told({ voice: { speed: 1, expressive: false, speaking_language: "en", voice_id: "" } })).toEqual([])
  })

  it.each<readonly [string, Partial<ReturnedSections>, string]>([
    ["a number", { voice: { ...voice, speed: 1.2 } }, "Voice: speed: 1 → 1.2"],
    ["a switch", { voice: { ...voice, expressive: true } }, "Voice: expressive: off → on"],
    ["what was empty", { voice: { ...voice, voice_id: "slt" } }, "Voice: voice id: none → slt"],
    [
      "a long text",
      { prompt: { ...base.prompt, system_prompt: "x".repeat(61) } },
      "Prompt: system prompt: text changed"
    ],
    ["a list", { asr: { ...base.asr, keyterms: ["Ada", "Bo"] } }, "Speech recognition: keyterms: 2 added, 1 removed"],
    ["the order of a list", { tools: { ...base.tools, tool_ids: ["b", "a"] } }, "Tools: tool ids: reordered"],
    ["a list that was absent", { tools: { ...base.tools, mcp_server_ids: ["m"] } }, "Tools: mcp server ids: 1 added"],
    [
      "a part that is new",
      { llm: { model: null, custom: { base_url: "https://example.com", model: "m", api_key: null } } },
      "Model: model: demo → none; custom: added"
    ],
    [
      "a value within",
      {
        conversation: {
          ...base.conversation,
          outbound: { amd_enabled: true, voicemail: { action: "leave_message", message: "" } }
        }
      },
      "Conversation: outbound, voicemail, action: hangup → leave_message"
    ]
  ])("tells %s", (_, draft, words) => {
    expect(told(draft)).toEqual([words])
  })
})
