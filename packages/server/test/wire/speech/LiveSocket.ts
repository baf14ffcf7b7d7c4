// A live session that is begun and not ended: it occupies one of its account's permits.
import { decode, encode } from "@msgpack/msgpack"
import { once } from "node:events"
import { WebSocket } from "ws"
import type { RunningService } from "../../../src/testing/RunningService.ts"

export interface LiveSocket {
  readonly ws: WebSocket
  readonly send: (event: unknown) => void
  /** Every event so far. */
  readonly events: Array<Readonly<Record<string, unknown>>>
  /** The code of the close, as soon as there is one. */
  readonly closed: Promise<number>
}

export const liveSocket = async (
  service: RunningService,
  path = "/v1/tts/live",
  headers: Record<string, string> = { authorization: `Bearer ${service.key}` }
): Promise<LiveSocket> => {
  const ws = new WebSocket(service.url.replace(/^http/, "ws") + path, { headers })
  const events: LiveSocket["events"] = []
  ws.on("message", (data: Buffer) => void events.push(decode(data) as Readonly<Record<string, unknown>>))
  ws.on("error", () => undefined)
  const closed = new Promise<number>((resolve) => ws.once("close", resolve))
  await once(ws, "open")
  return { ws, events, closed, send: (event) => ws.send(encode(event)) }
}

/** Begins a session that keeps its permit; the result ends it. */
export const occupyPermit = async (service: RunningService, key: string): Promise<() => Promise<void>> => {
  const { closed, events, send, ws } = await liveSocket(service, undefined, { authorization: `Bearer ${key}` })
  send({ event: "start", request: { format: "pcm", sample_rate: 8000 } })
  send({ event: "text", text: "I stay here. " })
  send({ event: "flush" })
  for (let i = 0; events.length === 0 && i < 400; i++) await new Promise((rest) => setTimeout(rest, 25))
  if (events[0]?.["event"] !== "audio") throw new Error(`no permit: ${JSON.stringify(events[0])}`)
  return async () => {
    ws.terminate()
    await closed
  }
}
