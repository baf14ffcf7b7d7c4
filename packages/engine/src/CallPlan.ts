// Everything one call needs to know, fixed before it starts: the owner of the call turns a published version,
// overrides and variables into this value, and the engine asks nobody anything afterwards.
// Placeholders are already filled in. Serialisable but for redacted keys.
import type { McpEndpoint } from "@parley/contract/McpServer"
import type { ToolSource } from "@parley/contract/SessionItem"
import type { WebhookTemplate } from "@parley/contract/WebhookTemplate"
import type { ToolSpec } from "@parley/llm/ChatModel"
import type { LlmChoice } from "@parley/llm/LlmChoice"
import type { VoiceCharacter } from "@parley/speech/ports/VoiceCharacter"

export type { LlmChoice }

/** One call, fixed before it starts. Times in milliseconds unless named otherwise. */
export interface CallPlan {
  readonly sessionId: string
  readonly prompt: {
    readonly system: string
    /** Documents known by heart, with the engine's word that they are no instructions. */
    readonly documents?: string | undefined
    readonly firstMessage: FirstMessage
  }
  readonly voice: {
    /** Empty for the platform's default. */
    readonly id: string
    /** A voice beyond the engine's own. */
    readonly character?: VoiceCharacter | undefined
    /** ISO 639-1. */
    readonly language: string
    /** 0.5 to 2. */
    readonly speed: number
  }
  readonly hearing: {
    readonly language: string
    readonly keyterms: ReadonlyArray<string>
  }
  readonly conversation: ConversationRules
  readonly llm: LlmChoice
  readonly tools: ReadonlyArray<PlannedTool>
  /** Documents too long for the prompt: looked into at every turn. */
  readonly knowledge?: ReadonlyArray<PlannedKnowledge> | undefined
  /** `tools.system_tools.hang_up_call`. */
  readonly hangUpTool: boolean
  /** What a telephone call may do beyond talking; left out elsewhere. */
  readonly phone?: PhonePlan | undefined
  /** Whether tool.* events reach the client (`tool_events`). */
  readonly toolEvents: boolean
  /** Whether both sides are kept as sound; whoever gives the engine its leg sees to it. Default false. */
  readonly recordAudio?: boolean
  /** Whether the journal begins with the system prompt and the tools exactly as the model is sent them. */
  readonly showInstructions?: boolean | undefined
  /** What could not be prepared for the call: faults its journal begins with. */
  readonly missing?: ReadonlyArray<{ readonly name: string; readonly data: Record<string, unknown> }> | undefined
  /** Extra top-level fields of every model request: session_id, user_id, the vendor's extra body. */
  readonly llmExtra: Readonly<Record<string, unknown>>
}

/** How the agent opens the call. */
export type FirstMessage =
  | { readonly mode: "off" }
  | { readonly mode: "fixed"; readonly text: string }
  /** The model opens, told how by this instruction. */
  | { readonly mode: "prompt"; readonly instruction: string }

/** Times in milliseconds; names and defaults of an agent's `conversation` section. */
export interface ConversationRules {
  readonly maxDurationMs: number
  /** Silence after the last voiced sample before the caller's turn counts as over. */
  readonly responseWaitMs: number
  /** Upper bound of that silence when the sentence looks unfinished; null for the engine's own. */
  readonly responseMaxWaitMs: number | null
  readonly eagerness: "relaxed" | "balanced" | "eager"
  readonly interruptible: boolean
  readonly interruptionSensitivity: "low" | "balanced" | "high"
  readonly interruptionIgnorePhrases: ReadonlyArray<string>
  readonly speculativeResponse: boolean
  readonly reengage: boolean
  readonly hangupAfterMs: number
  readonly farewell: boolean
  /** On calls we placed, where a machine may answer: what to do then. */
  readonly voicemail?: VoicemailRules | undefined
}

/** What to do when an answering machine took a call we placed. */
export interface VoicemailRules {
  /** `leave_message`: the message as it is; `leave_prompt_message`: the model's words, told what to say. */
  readonly action: "hangup" | "leave_message" | "leave_prompt_message"
  readonly message: string
}

/**
 * A tool the agent may call. `blocking`: waited for; `background`: its result is told later; `fire_and_forget`:
 * never waited for.
 */
export interface PlannedTool {
  readonly spec: ToolSpec
  readonly source: ToolSource
  readonly mode: "blocking" | "background" | "fire_and_forget"
  readonly timeoutMs: number
  /** `hide`: the model learns only that the call failed. */
  readonly errorHandling: "passthrough" | "hide"
  /** For tools that are a request to somewhere: read by whoever runs them, never by the engine. */
  readonly webhook?: WebhookTemplate | undefined
  /** For tools of an MCP server, under the name it has there; read like `webhook`. */
  readonly mcp?: { readonly server: McpEndpoint; readonly tool: string } | undefined
}

/** What a telephone call has besides: numbers, transfers, the keypad. */
export interface PhonePlan {
  /** Ours: what was dialled, or what we call from. */
  readonly number: string
  /** The other side's, E.164; left out when it is withheld. */
  readonly callerNumber?: string | undefined
  /** Of a REFER, beside what it needs. */
  readonly referHeaders: Readonly<Record<string, string>>
  /** Where the call may be handed to: the tool `transfer_call` is offered when there is one. */
  readonly transfers: ReadonlyArray<PlannedTransfer>
  /** Whether the agent may press keys: the tool `send_digits`. */
  readonly keypad: boolean
}

/** Where a call may be handed to; names and meanings of an agent's transfer destinations. */
export interface PlannedTransfer {
  readonly label: string
  readonly description: string
  readonly mode: "cold" | "warm"
  /** E.164 number, or a `sip:` URI. */
  readonly target: string
  readonly warmConnect: "confirm" | "briefing" | "direct"
  readonly briefing: string
  readonly onFailure: { readonly action: "return_to_agent" | "end_call"; readonly message: string }
}

/** One revision of a document: read by whoever searches, never by the engine. */
export interface PlannedKnowledge {
  readonly id: string
  readonly revision: number
  readonly title: string
}

/** A plan with the defaults of an agent's settings, for those who embed the engine. */
export const defaultPlan = (sessionId: string, system: string): CallPlan => ({
  sessionId,
  prompt: {
    system,
    firstMessage: { mode: "prompt", instruction: "Greet the caller in one short, friendly sentence." }
  },
  voice: { id: "", language: "en", speed: 1 },
  hearing: { language: "en", keyterms: [] },
  conversation: defaultRules,
  llm: { kind: "default", model: "" },
  tools: [],
  hangUpTool: false,
  toolEvents: true,
  llmExtra: {}
})

/** The rules where an agent's settings say nothing. */
export const defaultRules: ConversationRules = {
  maxDurationMs: 1_800_000,
  responseWaitMs: 550,
  responseMaxWaitMs: null,
  eagerness: "balanced",
  interruptible: true,
  interruptionSensitivity: "balanced",
  interruptionIgnorePhrases: [],
  speculativeResponse: true,
  reengage: false,
  hangupAfterMs: 60_000,
  farewell: false
}
