// A small OpenAI-compatible audio server on loopback, with failures on order. Speech is a real tone whose length
// follows the text; a transcription is the next of the given texts, its words spread over the WAV it was sent.
import { createServer } from "node:http"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"
import type { Scope } from "effect"
import { pcmBytes, parseWav } from "@parley/audio/Wav"

export type Behaviour =
  | "works"
  /** The connection is destroyed before any answer. */
  | "dead"
  /** Takes the request and never answers. */
  | "hangs"
  /** Answers, then sends one byte now and then, for ever. */
  | "drips"
  /** Sends a third of its answer and destroys the connection. */
  | "breaks"
  /** Status 200 and no body. */
  | "empty"
  /** Status 200 and an HTML page. */
  | "page"
  /** Status 200 and JSON that is no answer, under an audio content type. */
  | "liar"
  /** This status. */
  | number

export interface FakeRequest {
  readonly path: string
  readonly authorization: string | undefined
  /** JSON body, or the multipart fields without the file. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Samples of the uploaded WAV. */
  readonly samples: Int16Array
}

export interface FakeOpenAiAudio {
  readonly baseUrl: string
  readonly requests: ReadonlyArray<FakeRequest>
  /** One per coming request; afterwards it works. */
  readonly behave: (...behaviours: ReadonlyArray<Behaviour>) => void
  /** Requests whose client went away before the answer was complete. */
  readonly abandoned: () => number
}

export const makeFakeOpenAiAudio = Effect.fnUntraced(function* (
  options: {
    readonly transcripts?: ReadonlyArray<string>
    /** Before each answer. */
    readonly delayMs?: number
  } = {}
): Effect.fn.Return<FakeOpenAiAudio, never, Scope.Scope> {
  const requests: Array<FakeRequest> = []
  const behaviours: Array<Behaviour> = []
  const transcripts = [...(options.transcripts ?? [])]
  let abandoned = 0

  const serve = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    response.on("close", () => {
      if (!response.writableEnded && !destroyed.has(response)) abandoned++
    })
    const request = await read(incoming)
    requests.push(request)
    const behaviour = behaviours.shift() ?? "works"
    if (options.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, options.delayMs))
    const speech = request.path.endsWith("/audio/speech")
    const answer = speech
      ? tone(String(request.fields["input"] ?? ""), Number(request.fields["speed"] ?? 1))
      : Buffer.from(JSON.stringify(transcription(transcripts.shift() ?? "", request.samples)))
    reply(response, behaviour, answer, speech ? "audio/pcm" : "application/json")
  }

  const server = createServer((incoming, response) => {
    serve(incoming, response).catch(() => response.destroy())
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => {
      server.listen(0, "127.0.0.1", () => resume(Effect.void))
    }),
    () =>
      Effect.callback<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeAllConnections()
      })
  )
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    behave: (...next) => void behaviours.push(...next),
    abandoned: () => abandoned
  }
})

/** Responses this server tore down itself. */
const destroyed = new WeakSet<ServerResponse>()

const destroy = (response: ServerResponse): void => {
  destroyed.add(response)
  response.destroy()
}

const reply = (response: ServerResponse, behaviour: Behaviour, answer: Buffer, contentType: string): void => {
  const head = (type: string, status = 200) => response.writeHead(status, { "content-type": type })
  if (typeof behaviour === "number") {
    head("application/json", behaviour).end(JSON.stringify({ error: { message: "on order" } }))
    return
  }
  switch (behaviour) {
    case "works":
      head(contentType)
      for (let at = 0; at < answer.length; at += 4801) response.write(answer.subarray(at, at + 4801))
      response.end()
      return
    case "dead":
      return destroy(response)
    case "hangs":
      return
    case "drips": {
      head(contentType).write(answer.subarray(0, 2))
      const timer = setInterval(() => response.write(Buffer.alloc(1)), 20)
      response.on("close", () => clearInterval(timer))
      return
    }
    case "breaks":
      head(contentType).write(answer.subarray(0, answer.length / 3), () => setTimeout(() => destroy(response), 30))
      return
    case "empty":
      head(contentType).end()
      return
    case "page":
      head("text/html").end("<!DOCTYPE html><title>Sign in</title>")
      return
    case "liar":
      head(contentType).end(JSON.stringify({ error: "quota" }))
  }
}

const read = async (incoming: IncomingMessage): Promise<FakeRequest> => {
  const parts: Array<Buffer> = []
  for await (const part of incoming) parts.push(part as Buffer)
  const body = Buffer.concat(parts)
  const base = { path: incoming.url ?? "", authorization: incoming.headers.authorization }
  const contentType = incoming.headers["content-type"] ?? ""
  if (!contentType.startsWith("multipart/")) {
    const fields = JSON.parse(body.toString("utf8")) as Readonly<Record<string, unknown>>
    return { ...base, fields, samples: new Int16Array(0) }
  }
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData()
  const file = form.get("file")
  const samples = file instanceof Blob ? parseWav(new Uint8Array(await file.arrayBuffer())).samples : new Int16Array(0)
  return { ...base, fields: Object.fromEntries([...form].filter(([name]) => name !== "file")), samples }
}

/** 24 kHz, 60 ms per character. */
const tone = (text: string, speed: number): Buffer => {
  const samples = new Int16Array(Math.round((text.length * 60 * 24) / speed))
  for (let i = 0; i < samples.length; i++) samples[i] = 8000 * Math.sin((2 * Math.PI * 440 * i) / 24_000)
  return Buffer.from(pcmBytes(samples))
}

const transcription = (text: string, samples: Int16Array) => {
  const words = text.split(" ").filter((word) => word !== "")
  const duration = samples.length / 16_000
  const each = duration / Math.max(1, words.length)
  return {
    task: "transcribe",
    language: "english",
    duration,
    text,
    words: words.map((word, i) => ({ word, start: i * each, end: (i + 1) * each }))
  }
}
