// The built-in demo host's side of an appointment-booking conversation, pure: what the caller has said
// so far, folded into slots and the last question, gives the next sentence. It understands little and
// says so; it never pretends to be a language model.
import { dayIn, nameIn, type Slots, timeIn } from "./slots.ts"

/** What the host asked last. */
export type Question = "day" | "time" | "name" | "confirm" | "more"

/** The conversation so far, as rules see it. */
export interface Dialogue {
  readonly slots: Slots
  readonly asked: Question | null
  readonly booked: boolean
  /** Sentences in a row that were not understood. */
  readonly lost: number
  readonly over: boolean
}

/** What the host says, and what it does with it. */
export interface Answer {
  readonly text: string
  readonly act: "book" | "hangUp" | null
}

/** Nothing was said yet. */
export const beginning: Dialogue = { slots: {}, asked: null, booked: false, lost: 0, over: false }

/** The first sentence of the host. */
export const greeting =
  "Hello, this is the Parley demo desk. I can book an appointment for you. Which day would you like to come?"

const hoursLine = "We are open from nine to six, Monday to Friday."

/** The caller's sentence, folded in: the next state and what is said to it. Pure. */
export const answer = (before: Dialogue, said: string): readonly [Dialogue, Answer] => {
  const words = said.toLowerCase().trim()
  const about = topicOf(words)
  if (about === "bye") return closing(before)
  const slots = heardSlots(before, words)
  const learned = slots !== before.slots
  const next: Dialogue = { ...before, slots, lost: 0 }
  if (about === "cancel" && before.asked !== "confirm") {
    return ask({ ...next, slots: {}, booked: false }, "All right, I have cancelled that. ")
  }
  if (before.asked === "confirm" && !learned) return confirmed(next, words, about)
  if (before.asked === "more") return more(next, about, learned)
  if (about === "hours" && !learned) return ask(next, `${hoursLine} `)
  if (about === "price" && !learned) return ask(next, "A first appointment is free of charge. ")
  if (about === "who")
    return ask(next, "I am the built-in demo host of Parley. I follow a few rules and can only book appointments. ")
  if (about === "repeat") return ask(next, "")
  if (learned) return ask(next, acknowledge(before.slots, slots))
  if (about === "book") return ask(next, "Gladly. ")
  if (about === "greeting") return ask(next, before.asked === null ? "Hello! " : "Hello again. ")
  return lost(next, before.lost + 1)
}

const heardSlots = ({ asked, slots }: Dialogue, words: string): Slots => {
  const day = dayIn(words)
  const time = asked === "name" ? undefined : timeIn(words)
  const name = nameIn(words, asked === "name")
  const fresh = { ...(day && { day }), ...(time && { time }), ...(name && { name }) }
  const changed = Object.entries(fresh).some(([key, value]) => slots[key as keyof Slots] !== value)
  return changed ? { ...slots, ...fresh } : slots
}

/** The next open question, after a few words of one's own. */
const ask = (state: Dialogue, lead: string): readonly [Dialogue, Answer] => {
  const { day, name, time } = state.slots
  if (state.booked) return say({ ...state, asked: "more" }, `${lead}Is there anything else?`)
  if (day === undefined) return say({ ...state, asked: "day" }, `${lead}Which day would you like to come?`)
  if (time === undefined) return say({ ...state, asked: "time" }, `${lead}At what time would you like to come?`)
  if (name === undefined) return say({ ...state, asked: "name" }, `${lead}What is your name, please?`)
  return say({ ...state, asked: "confirm" }, `So that is ${spoken(state.slots)}. Shall I book it?`)
}

const confirmed = (state: Dialogue, words: string, about: Topic): readonly [Dialogue, Answer] => {
  if (about === "yes" || about === "book") {
    const done = { ...state, booked: true, asked: "more" } as const
    return [
      done,
      { text: `Your appointment is booked for ${spoken(state.slots)}. Is there anything else?`, act: "book" }
    ]
  }
  if (about === "no" || about === "cancel") {
    const what = /\bday\b/.test(words)
      ? "day"
      : /\btime\b/.test(words)
        ? "time"
        : /\bname\b/.test(words)
          ? "name"
          : null
    if (what === null) return ask({ ...state, slots: {} }, "Then let us start again. ")
    const { [what]: _, ...rest } = state.slots
    return ask({ ...state, slots: rest }, "Let me change that. ")
  }
  return lost(state, state.lost + 1)
}

const more = (state: Dialogue, about: Topic, learned: boolean): readonly [Dialogue, Answer] => {
  if (about === "no" || about === "thanks") return closing(state)
  if (about === "hours") return ask(state, `${hoursLine} `)
  if (learned) return ask({ ...state, booked: false }, "I will change that. ")
  if (about === "yes" || about === "book") return ask({ ...state, booked: false, slots: {} }, "Gladly. ")
  return lost(state, state.lost + 1)
}

const closing = (state: Dialogue): readonly [Dialogue, Answer] => [
  { ...state, over: true },
  { text: "Thank you for calling. Goodbye.", act: "hangUp" }
]

const lost = (state: Dialogue, times: number): readonly [Dialogue, Answer] => {
  const lead =
    times > 1
      ? "I am only a small demo host and did not understand that either. I can book an appointment for you. "
      : "Sorry, I did not understand that. "
  const [next, reply] = ask({ ...state, lost: 0 }, lead)
  return [{ ...next, lost: times }, reply]
}

const acknowledge = (before: Slots, now: Slots): string => {
  if (now.name !== before.name && now.name !== undefined) return `Thank you, ${now.name}. `
  if (now.time !== before.time && now.time !== undefined) return `${clause(now)}. `
  return now.day !== before.day && now.day !== undefined ? `${clause(now)} is fine. ` : ""
}

const clause = ({ day, time }: Slots): string => [day, at(time)].filter((part) => part !== undefined).join(" ")

const spoken = (slots: Slots): string => `${clause(slots)}, for ${slots.name ?? "you"}`

const at = (time: string | undefined): string | undefined =>
  time === undefined || time.startsWith("in ") ? time : `at ${time}`

const say = (state: Dialogue, text: string): readonly [Dialogue, Answer] => [state, { text, act: null }]

type Topic =
  | "bye"
  | "cancel"
  | "yes"
  | "no"
  | "thanks"
  | "hours"
  | "price"
  | "who"
  | "repeat"
  | "book"
  | "greeting"
  | null

const topics: ReadonlyArray<readonly [Exclude<Topic, null>, RegExp]> = [
  ["bye", /\b(good ?bye|bye|hang up|see you|that is all|that's all|that will be all)\b/],
  ["repeat", /\b(repeat|say that again|pardon|what did you say|come again)\b/],
  ["cancel", /\b(cancel|never ?mind|forget it)\b/],
  ["no", /\b(no|nope|not really|wrong|nothing|incorrect)\b/],
  ["yes", /\b(yes|yeah|yep|sure|correct|right|please do|go ahead|exactly|of course|perfect)\b/],
  ["thanks", /\b(thank you|thanks)\b/],
  ["hours", /\b(open|hours|close|closing|opening)\b/],
  ["price", /\b(price|cost|how much|fee|expensive)\b/],
  ["who", /\b(who are you|are you (?:a |an )?(?:robot|human|real|machine)|what can you do|help)\b/],
  ["book", /\b(book|appointment|appointments|reserve|schedule|come in|visit|make an|meeting)\b/],
  ["greeting", /\b(hello|hi|hey|good (?:morning|afternoon|evening))\b/]
]

const topicOf = (words: string): Topic => topics.find(([, pattern]) => pattern.test(words))?.[0] ?? null
