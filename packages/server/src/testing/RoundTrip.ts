// Sentences spoken by a running service and heard by it again: the word error rate of one format, for a test and a
// bench. The sentences are plain ones: what is measured is the way through the format, not a vocabulary.
import { encodeWav, samplesOf } from "@parley/audio/Wav"
import type { RunningService } from "./RunningService.ts"

const sentences = [
  "The weather is nice today and we are going to the market.",
  "My brother works in a small office near the station.",
  "Please close the window before you leave the room.",
  "We would like to have dinner at seven in the evening.",
  "The train from the city arrives at half past nine.",
  "She bought a blue dress and a pair of brown shoes.",
  "There is a letter for you on the kitchen table.",
  "The children are playing football behind the house.",
  "I will call you again tomorrow after the meeting.",
  "He has been waiting for an answer since last week.",
  "The doctor told him to drink more water every day.",
  "Our friends are building a new garage this summer.",
  "It was raining all night, but the morning is dry.",
  "You can leave your coat and your bag in the hall.",
  "The museum is open every day except on Monday.",
  "They walked along the river until it became dark.",
  "Can you tell me the way to the nearest bank?",
  "The soup is too hot, so let it stand for a moment.",
  "I forgot my keys at work and had to go back.",
  "Thank you very much for your help, and have a good day."
] as const

export interface RoundTripFormat {
  readonly name: string
  /** Of POST /v1/tts. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Set for bare samples: a recogniser must be told what they are. */
  readonly rawRate?: number
}

export const roundTripFormats: ReadonlyArray<RoundTripFormat> = [
  { name: "wav 16 kHz", fields: { format: "wav", sample_rate: 16_000 } },
  { name: "wav 44.1 kHz", fields: { format: "wav" } },
  { name: "pcm 24 kHz", fields: { format: "pcm", sample_rate: 24_000 }, rawRate: 24_000 },
  { name: "mp3 64 kbit/s", fields: { format: "mp3", mp3_bitrate: 64 } },
  { name: "mp3 128 kbit/s", fields: { format: "mp3", mp3_bitrate: 128 } },
  { name: "mp3 192 kbit/s", fields: { format: "mp3", mp3_bitrate: 192 } },
  { name: "opus", fields: { format: "opus" } },
  { name: "opus 24 kbit/s", fields: { format: "opus", opus_bitrate: 24_000 } }
]

export interface RoundTripResult {
  readonly said: string
  readonly heard: string
  /** Substitutions, insertions and deletions for each word that was said. */
  readonly rate: number
}

/** The first `count` sentences, one request each. */
export const roundTrip = async (
  service: Pick<RunningService, "key" | "url">,
  format: RoundTripFormat,
  count: number = sentences.length
): Promise<RoundTripResult> => {
  const said = sentences.slice(0, count)
  const heard: Array<string> = []
  let errors = 0
  let words = 0
  for (const sentence of said) {
    const sound = await speak(service, sentence, format)
    const text = await hear(
      service,
      format.rawRate === undefined ? sound : Buffer.from(encodeWav(samplesOf(sound), format.rawRate))
    )
    heard.push(text)
    errors += wordErrors(sentence, text)
    words += wordsOf(sentence).length
  }
  return { said: said.join(" "), heard: heard.join(" "), rate: errors / words }
}

const ok = async (answer: Response): Promise<Response> => {
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return answer
}

const speak = async ({ key, url }: Pick<RunningService, "key" | "url">, text: string, { fields }: RoundTripFormat) => {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
  const body = JSON.stringify({ text, ...fields })
  return Buffer.from(await (await ok(await fetch(`${url}/v1/tts`, { method: "POST", headers, body }))).arrayBuffer())
}

const hear = async (
  { key, url }: Pick<RunningService, "key" | "url">,
  sound: Uint8Array<ArrayBuffer>
): Promise<string> => {
  const body = new FormData()
  body.set("audio", new Blob([sound]))
  const headers = { authorization: `Bearer ${key}` }
  const answer = await ok(await fetch(`${url}/v1/asr`, { method: "POST", headers, body }))
  return ((await answer.json()) as { readonly text: string }).text
}

export const wordsOf = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[a-z']+/g) ?? []

/** Least number of words to replace, insert and delete (Levenshtein). */
export const wordErrors = (saidText: string, heardText: string): number => {
  const [said, heard] = [wordsOf(saidText), wordsOf(heardText)]
  let row = Array.from({ length: heard.length + 1 }, (_, i) => i)
  for (const [i, word] of said.entries()) {
    const next = [i + 1]
    for (const [j, other] of heard.entries()) {
      next.push(Math.min(next[j]! + 1, row[j + 1]! + 1, row[j]! + (word === other ? 0 : 1)))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
