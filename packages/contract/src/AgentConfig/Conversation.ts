// Section `conversation`: time, turn-taking, silence, and what to do on the telephone.
import { Schema } from "effect"
import { defaulted, listOf, text, textBetween, wholeBetween } from "../Field.ts"
import { TimezoneOrEmpty } from "../Timezone.ts"
import { TransferDestinations } from "./TransferDestination.ts"

/** How soon the agent takes its turn after the caller stopped. */
const Eagerness = Schema.Literals(["relaxed", "balanced", "eager"])
/** How easily the caller's voice interrupts the agent. */
const Sensitivity = Schema.Literals(["low", "balanced", "high"])
/** What happens when an answering machine takes the call. */
const VoicemailAction = Schema.Literals(["hangup", "leave_message", "leave_prompt_message"])

/** Detection of answering machines on calls that are placed. */
const Voicemail = Schema.Struct({
  action: defaulted(VoicemailAction, "hangup"),
  message: defaulted(text(10_000), "")
})

/** Settings of calls that are placed. */
const Outbound = Schema.Struct({
  amd_enabled: defaulted(Schema.Boolean, true),
  voicemail: defaulted(Voicemail, {})
})

/** Section `conversation`: turns, silence, duration, recording; times in seconds. */
export const Conversation = Schema.Struct({
  max_duration_seconds: defaulted(wholeBetween(60, 3600), 1800),
  response_wait_ms: defaulted(wholeBetween(300, 2000), 550),
  eagerness: defaulted(Eagerness, "balanced"),
  response_max_wait_ms: defaulted(Schema.NullOr(wholeBetween(0, 4000)), null),
  interruptible: defaulted(Schema.Boolean, true),
  interruption_sensitivity: defaulted(Sensitivity, "balanced"),
  interruption_ignore_phrases: defaulted(listOf(textBetween(1, 200), 50), []),
  speculative_response: defaulted(Schema.Boolean, true),
  reengage_enabled: defaulted(Schema.Boolean, false),
  hangup_after_seconds: defaulted(wholeBetween(10, 3600), 60),
  hangup_farewell_enabled: defaulted(Schema.Boolean, false),
  record_audio: defaulted(Schema.Boolean, true),
  timezone: defaulted(TimezoneOrEmpty, ""),
  transfer_destinations: defaulted(TransferDestinations, []),
  outbound: defaulted(Outbound, {})
})
export type Conversation = typeof Conversation.Type
