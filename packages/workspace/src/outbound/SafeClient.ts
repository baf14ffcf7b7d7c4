// Requests to addresses a customer wrote: public addresses only, checked where the connection is made; no redirect;
// bounded in time and bytes.
import { Effect, type Scope } from "effect"
import { Agent, type IncomingMessage } from "node:http"
import { Readable } from "node:stream"
import { dial, type DialParts } from "./Dial.ts"
import { brokenOff, checkedUrl, exchange, Interrupted, type Outgoing } from "./HttpExchange.ts"
import { OutboundError } from "./OutboundError.ts"

/** A request and its bounds. */
export interface SafeRequest extends Outgoing {
  /** From the look-up of the name to the last byte. */
  readonly timeoutMs: number
  /** More of the answer's body is not read. */
  readonly maxBytes: number
  /** Asked with each piece of the body: true ends the answer there. Must not throw. */
  readonly enough?: ((piece: Uint8Array, headers: Readonly<Record<string, string>>) => boolean) | undefined
}

/** An answer, whatever its status. */
export interface SafeAnswer {
  /** Any; a redirect is an answer. */
  readonly status: number
  /** In lower case; repeated ones joined by commas. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly truncated: boolean
}

/** The part of `fetch` that a client of a streaming API needs. Rejects with an OutboundError. */
export type SafeFetch = (
  url: string,
  init: {
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly signal: AbortSignal
  }
) => Promise<{ readonly ok: boolean; readonly status: number; readonly body: ReadableStream<Uint8Array> | null }>

/** Requests to addresses that customers wrote. */
export interface SafeClient {
  /** On a connection of its own. */
  readonly request: (request: SafeRequest) => Effect.Effect<SafeAnswer, OutboundError>
  /** On connections that are kept for the next request to the same host; bounded by its signal. */
  readonly fetch: SafeFetch
}

/** Connections of the pool are closed with the scope. */
export const makeSafeClient = Effect.fnUntraced(function* (
  parts: DialParts
): Effect.fn.Return<SafeClient, never, Scope.Scope> {
  const pools = { "http:": new Pool("http:", parts), "https:": new Pool("https:", parts) }
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => {
      pools["http:"].destroy()
      pools["https:"].destroy()
    })
  )

  const ask = async (request: SafeRequest, signal: AbortSignal): Promise<SafeAnswer> => {
    const url = checkedUrl(request.url, parts.allowed)
    const socket = await dial(url, parts, signal)
    try {
      const answer = await exchange(url, request, { socket }, signal)
      const { body, truncated } = await collect(answer, request)
      return { status: answer.statusCode ?? 0, headers: headersOf(answer), body, truncated }
    } finally {
      socket.destroy()
    }
  }

  const fetch: SafeFetch = async (address, { signal, ...rest }) => {
    const url = checkedUrl(address, parts.allowed)
    const outgoing = { ...rest, url: address, headers: Object.entries(rest.headers) }
    const agent = pools[url.protocol as "http:" | "https:"]
    const answer = await exchange(url, outgoing, { agent }, signal).catch((error: unknown) => {
      if (error instanceof Interrupted && error.stale) return exchange(url, outgoing, { agent }, signal)
      throw error
    })
    const status = answer.statusCode ?? 0
    return { ok: status >= 200 && status < 300, status, body: Readable.toWeb(answer) as ReadableStream<Uint8Array> }
  }

  return {
    request: (request) =>
      Effect.tryPromise({ try: (signal) => ask(request, signal), catch: asOutbound }).pipe(
        Effect.timeoutOrElse({
          duration: request.timeoutMs,
          orElse: () => Effect.fail(new OutboundError({ reason: "Timeout", message: "no answer in time" }))
        })
      ),
    fetch
  }
})

const connectMs = 10_000

/** Keeps idle connections for half a minute; each new one is dialled, and so checked. */
class Pool extends Agent {
  readonly #scheme: string
  readonly #parts: DialParts

  constructor(scheme: string, parts: DialParts) {
    super({ keepAlive: true, maxFreeSockets: 64, timeout: 30_000, scheduling: "lifo" })
    this.#scheme = scheme
    this.#parts = parts
  }

  override createConnection(
    options: { readonly host?: string | null | undefined; readonly port?: number | string | null | undefined },
    callback?: Parameters<Agent["createConnection"]>[1]
  ): undefined {
    const url = new URL(`${this.#scheme}//${options.host}:${options.port}`)
    dial(url, this.#parts, AbortSignal.timeout(connectMs)).then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never)
    )
    return undefined
  }
}

const collect = (
  answer: IncomingMessage,
  { enough, maxBytes }: SafeRequest
): Promise<Pick<SafeAnswer, "body" | "truncated">> =>
  new Promise((resolve, reject) => {
    const headers = headersOf(answer)
    const chunks: Array<Uint8Array> = []
    let bytes = 0
    const whole = () => Buffer.concat(chunks).subarray(0, maxBytes)
    answer.on("data", (chunk: Uint8Array) => {
      bytes += chunk.length
      chunks.push(chunk)
      const done = enough?.(chunk, headers) === true
      if (!done && bytes <= maxBytes) return
      resolve({ body: whole(), truncated: bytes > maxBytes })
      answer.destroy()
    })
    answer.once("end", () => resolve({ body: whole(), truncated: false }))
    answer.on("error", () => reject(brokenOff()))
    answer.once("close", () => reject(brokenOff()))
  })

const headersOf = ({ headers }: IncomingMessage): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]]
    )
  )

const asOutbound = (error: unknown): OutboundError => (error instanceof OutboundError ? error : brokenOff())
