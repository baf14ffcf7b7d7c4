// Requests to the speech APIs of a running service without an SDK, and the texts that the tests have spoken.
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { wordErrors, wordsOf } from "../../../src/testing/RoundTrip.ts"
import type { RunningService } from "../../../src/testing/RunningService.ts"

export const elevenlabs = (url: string): string => `${url}/compat/elevenlabs`
export const openrouter = (url: string): string => `${url}/compat/api/v1`

export const sentence = "The weather is nice today and we are going to the market."
/** Several chunks, the first of them soon over. */
export const long = [
  "My sister has a little house by the river, and every summer the whole family comes to stay.",
  "In the morning we walk along the water and look for birds.",
  "At noon somebody cooks soup, and we sit outside under the old trees.",
  "When it rains we stay in the kitchen and tell each other stories.",
  "The children play with the dog until they fall asleep.",
  "On the last day nobody wants to pack, so we stay one more night.",
  "Then we drive home slowly through the hills and talk about the next year."
].join(" ")

/** Substitutions, insertions and deletions for each word that was said. */
export const wordErrorRate = (said: string, heard: string): number => wordErrors(said, heard) / wordsOf(said).length

export interface Drained {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Milliseconds from the call until each piece came. */
  readonly at: ReadonlyArray<number>
}

export const drain = async (
  stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array> | null
): Promise<Drained> => {
  const began = performance.now()
  const pieces: Array<Uint8Array> = []
  const at: Array<number> = []
  if (stream !== null) {
    for await (const piece of stream as AsyncIterable<Uint8Array>) {
      pieces.push(piece)
      at.push(performance.now() - began)
    }
  }
  return { bytes: new Uint8Array(Buffer.concat(pieces)), at }
}

/** The operator's command beside the running service. */
export const operate = async (service: RunningService, ...words: ReadonlyArray<string>): Promise<string> => {
  const command = fileURLToPath(new URL("../../../src/command.ts", import.meta.url))
  const env = { ...process.env, DATABASE_URL: "", PARLEY_DATA: service.data }
  return (await promisify(execFile)(process.execPath, [command, ...words], { env })).stdout.trim()
}

/** A key of another account. */
export const foreignKey = async (service: RunningService, workspace = "stranger"): Promise<string> =>
  (await operate(service, "keys", "create", "--workspace", workspace)).split(/\s+/)[1] ?? ""

/** JSON to a path of the main API, whatever the answer. */
export const post = (service: RunningService, path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(service.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${service.key}`, "content-type": "application/json", ...headers },
    body: JSON.stringify(body)
  })

/** Spoken by the service itself: the recordings that the other tests send. */
export const spoken = async (
  service: RunningService,
  text: string,
  fields: object = {}
): Promise<Uint8Array<ArrayBuffer>> => {
  const answer = await post(service, "/v1/tts", { text, format: "wav", sample_rate: 16_000, ...fields })
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`)
  return new Uint8Array(await answer.arrayBuffer())
}

/** Two equal, long enough recordings of one voice with their words, for cloning. */
export const reference = async (service: RunningService) => ({
  audio: await spoken(service, long, { sample_rate: 24_000 }),
  text: long
})

/** The error that an SDK throws. */
export const rejection = async (
  attempt: Promise<unknown>
): Promise<{
  readonly name: string
  readonly statusCode: number | undefined
  readonly body: unknown
  readonly message: string
}> => {
  try {
    await attempt
  } catch (error) {
    const given = error as Error & Readonly<Record<string, unknown>>
    const status = given["statusCode"] ?? given["status"]
    return {
      name: given.constructor.name,
      statusCode: typeof status === "number" ? status : undefined,
      body: given["body"] ?? given["error"],
      message: given.message
    }
  }
  throw new Error("the call succeeded")
}
