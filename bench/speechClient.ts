// The clients of the speech bench, in a process of their own: each message is a question, each answer a list of
// times in milliseconds.
import { decode, encode } from "@msgpack/msgpack"
import { WebSocket } from "ws"

export interface Question {
  readonly kind: "http" | "live" | "slow"
  readonly url: string
  readonly key: string
  readonly text: string
  readonly format: string
  /** Requests, and how many of them at once. */
  readonly count: number
  readonly at_once: number
}

export interface Row {
  readonly firstMs: number
  readonly totalMs: number
  readonly bytes: number
}

const overHttp = async ({ format, key, text, url }: Question, n: number): Promise<Row> => {
  const began = performance.now()
  const response = await fetch(`${url}/v1/tts`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    // Never the same text twice: nothing is to be remembered.
    body: JSON.stringify({ text: `${text} ${n}.`, format })
  })
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`)
  let firstMs = 0
  let bytes = 0
  for await (const chunk of response.body) {
    firstMs ||= performance.now() - began
    bytes += chunk.length
  }
  return { firstMs, totalMs: performance.now() - began, bytes }
}

/** From the text and its `flush` to the first sound, with the session open before. */
const overSocket = async ({ format, key, text, url }: Question, n: number): Promise<Row> => {
  const socket = new WebSocket(`${url.replace("http", "ws")}/v1/tts/live`, {
    headers: { authorization: `Bearer ${key}` }
  })
  const say = (event: object) => socket.send(encode(event))
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject))
  say({ event: "start", request: { text: "", format } })
  const began = performance.now()
  say({ event: "text", text: `${text} ${n}.` })
  say({ event: "flush" })
  say({ event: "stop" })
  let firstMs = 0
  let bytes = 0
  return new Promise((resolve, reject) => {
    socket.on("message", (data: Buffer) => {
      const event = decode(data) as { event: string; audio?: Uint8Array; reason?: string; message?: string }
      if (event.event === "audio") {
        firstMs ||= performance.now() - began
        bytes += event.audio?.length ?? 0
      } else if (event.reason === "stop") resolve({ firstMs, totalMs: performance.now() - began, bytes })
      else reject(new Error(event.message ?? event.event))
    })
  })
}

/** Opens a stream, reads its first bytes and then nothing until told to go. */
const slow = async ({ format, key, text, url }: Question, n: number): Promise<() => Promise<void>> => {
  const response = await fetch(`${url}/v1/tts`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ text: `${n}. ${text}`.repeat(20), format })
  })
  const reader = response.body?.getReader()
  await reader?.read()
  return async () => void (await reader?.cancel())
}

const ask = { http: overHttp, live: overSocket }
let held: ReadonlyArray<() => Promise<void>> = []
let asked = 0

const answer = async (question: Question): Promise<ReadonlyArray<Row>> => {
  await Promise.all(held.map((let_go) => let_go()))
  held = []
  const { at_once, count, kind } = question
  if (kind === "slow") {
    held = await Promise.all(Array.from({ length: count }, () => slow(question, asked++)))
    return []
  }
  const rows: Array<Row> = []
  const worker = async () => {
    while (rows.length < count) rows.push(await ask[kind](question, asked++))
  }
  await Promise.all(Array.from({ length: at_once }, worker))
  return rows
}

process.on("message", (question: Question) => {
  answer(question).then(
    (rows) => process.send?.(rows),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    }
  )
})
