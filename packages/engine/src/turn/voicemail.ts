// Voicemail detection on calls we placed. The agent greets at once, and what the far side says is examined meanwhile.
// A machine is known by its words, or by a beep right after long speech. A person must never be taken for one, so
// length or silence alone decide nothing. The agent waits for the machine's beep and then leaves its message.
import { textOf } from "./TurnState.ts"
import { discardSpeculative } from "./completion.ts"
import { begin, end, stopReply, type Step } from "./Step.ts"

/** Greetings are over by then; what is said later is a conversation. */
const watchMs = 45_000
/** A beep this soon after so much speech in one go is a machine's. */
const beepAfterMs = 1_500
const longSpeechMs = 2_500

/** Said by machines and never by who answers a call. Lower case, without punctuation. */
const sayings: ReadonlyArray<RegExp> = [
  // English
  /\bleave (me |us )?(a|your|the) (short |brief |detailed )?(message|name|number)\b/,
  /\b(after|at|following) the (tone|beep|signal)\b/,
  /\brecord your (message|name)\b/,
  /\b(voice ?mail|voice ?mailbox|mailbox|answering machine|answering service|voice messaging)\b.*\b(is full|of|for|message|has reached|available|number)\b/,
  /\b(you|you've|you have) (have )?reached the (voice ?mail|mailbox)\b/,
  /\b(is|are|am|im|i'm) (not available|unavailable|unable) (to (take|answer|come)|right now|at the moment)\b/,
  /\b(can't|cannot|can not|unable to) (take|answer|come to) (your|the) (call|phone)\b/,
  /\b(person|party|subscriber|customer|number) you('re| are| have)? (call|calling|called|dialed|dialled|trying)\b/,
  /\bwill (call|get back to|return your call)\b.*\b(soon|possible|later)\b/,
  /\bautomat(ic|ed) (voice|answering)\b/,
  /\bpress (one|1|pound|hash|star)\b.*\b(message|options|page|deliver)\b/,
  // German
  /\bnach dem (signal|piep|pieps|piepton|ton|signalton)\b/,
  /\bhinterlass(en|t|e) (sie|mir|uns|bitte|eine|deine|ihre)\b/,
  /\b(mailbox|anrufbeantworter|sprachbox)\b/,
  /\b(derzeit|zur zeit|momentan|gerade|im moment) nicht (erreichbar|zu erreichen)\b/,
  // French
  /\b(laissez|laisser) (moi |nous )?(un|votre) message\b/,
  /\b(apres|après) le (bip|signal|bip sonore|signal sonore)\b/,
  /\b(messagerie|repondeur|répondeur)\b/,
  // Spanish
  /\b(deje|deja|dejen) (su|tu|un) (mensaje|recado)\b/,
  /\b(despues|después) (de la señal|del tono|de oir|de oír)\b/,
  /\bbuz(o|ó)n de voz\b|\bcontestador\b/
]

/** Whether these are a machine's words. */
export const isVoicemailGreeting = (text: string): boolean => {
  const plain = text
    .toLowerCase()
    .replace(/[’`]/g, "'")
    .replace(/[^\p{L}\p{N}' ]+/gu, " ")
    .replace(/\s+/g, " ")
  return sayings.some((saying) => saying.test(plain))
}

/** The far side's words so far in this turn. Whether they are a machine's, and the turn is no turn. */
export const voicemailSpeaks = (s: Step): boolean => {
  const { voicemail, rules, turn } = s.state
  if (voicemail !== null) return true
  if (rules.voicemail === undefined || turn === null || s.at > watchMs) return false
  if (!isVoicemailGreeting(textOf(turn))) return false
  recognised(s)
  return true
}

/** A beep: it may show that the far side is a machine; then, or if that is known, it is time for the message. */
export const beepHeard = (s: Step): void => {
  const { voicemail, rules, turn, voiceSince } = s.state
  if (rules.voicemail === undefined) return
  if (voicemail === null) {
    const lastVoiced = voiceSince !== null ? s.at : (turn?.lastVoicedAt ?? Number.NEGATIVE_INFINITY)
    const spoke = s.state.lastVoice
    const after = spoke !== null && spoke.until - spoke.since >= longSpeechMs && s.at - lastVoiced <= beepAfterMs
    const during = voiceSince !== null && s.at - voiceSince >= longSpeechMs
    if (s.at > watchMs || !(after || during)) return
    recognised(s)
  }
  if (s.state.ended === null) leaveMessage(s)
}

const recognised = (s: Step): void => {
  discardSpeculative(s)
  stopReply(s)
  if (s.state.ended !== null) return
  s.state = { ...s.state, turn: null, voicemail: { since: s.at, left: false } }
  if (s.state.rules.voicemail?.action === "hangup") end(s, "agent_hangup")
}

/** Once; nothing the machine says interrupts it. */
export const leaveMessage = (s: Step): void => {
  const { voicemail } = s.state
  if (voicemail === null || voicemail.left) return
  discardSpeculative(s)
  stopReply(s)
  if (s.state.ended !== null) return
  s.state = {
    ...s.state,
    turn: null,
    voicemail: { ...voicemail, left: true },
    rules: { ...s.state.rules, interruptible: false },
    ending: "agent_hangup"
  }
  begin(s, { kind: "voicemail" })
}
