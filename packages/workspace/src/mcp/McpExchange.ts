// One request to an MCP server and its answer, over SafeHttp: every request is a POST on a connection of its own,
// answered by JSON or by events; an answer is read no further than its own message (MCP 2025-11-25, basic/transports).
import type { McpEndpoint } from "@parley/contract/McpServer"
import { type Cause, Effect, Queue, type Scope } from "effect"
import * as Sse from "effect/encoding/Sse"
import type { SafeAnswer } from "../outbound/SafeClient.ts"
import type { SafeHttp } from "../outbound/SafeHttp.ts"
import { McpFailure } from "./McpFailure.ts"
import { headersFor, type Message, type Opened, type Params, sessionless } from "./McpHeaders.ts"
import { answerTo, parseMessages, requestOf, type RpcAnswer, type RpcRequest } from "./McpMessage.ts"

const answerBytes = 2 * 2 ** 20
const closeMs = 2_000
/** Kept of what a server or a tool says of a failure. */
export const errorChars = 4_096

/** How the service introduces itself. */
export interface McpClientInfo {
  readonly name: string
  readonly version: string
}

/** Requests to one server. */
export interface McpExchange {
  /**
   * Asks and waits for the result. `to` is undefined for the greeting. Whoever is interrupted or runs out of time tells the
   * server so.
   */
  readonly ask: (
    to: Opened | undefined,
    method: string,
    params: Params,
    timeoutMs?: number
  ) => Effect.Effect<{ readonly result: unknown; readonly sessionId: string | undefined }, McpFailure>
  /** A message nobody answers. */
  readonly send: (to: Opened, message: Message) => Effect.Effect<void, McpFailure>
  /** Deletes the server's session, if there is one; never fails. */
  readonly close: (opened: Opened) => Effect.Effect<void>
  /** What the server asks meanwhile; the 17th that waits is dropped. */
  readonly questions: Queue.Dequeue<RpcRequest>
}

/** Every request is bounded by the endpoint's time-out unless told otherwise. */
export const make = Effect.fnUntraced(function* (
  http: SafeHttp["Service"],
  endpoint: McpEndpoint,
  client: McpClientInfo
): Effect.fn.Return<McpExchange, never, Scope.Scope> {
  const scope = yield* Effect.scope
  const questions = yield* Queue.dropping<RpcRequest>(16)
  let nextId = 1

  const post = (to: Opened | undefined, message: Message, reader: Reader | undefined, timeoutMs: number) =>
    http
      .request({
        method: "POST",
        url: endpoint.url,
        headers: headersFor(endpoint, to, message),
        body: JSON.stringify({ jsonrpc: "2.0", ...message }),
        timeoutMs,
        maxBytes: answerBytes,
        enough: (piece, headers) => reader !== undefined && isEvents(headers) && reader.feed(piece)
      })
      .pipe(
        Effect.mapError(
          ({ message: said, reason }) =>
            new McpFailure({ reason: reason === "Timeout" ? "Timeout" : "Unreachable", message: said })
        ),
        Effect.flatMap((answer) => accepted(answer, to)),
        Effect.withSpan("McpClient.exchange")
      )

  const cancel = (to: Opened, requestId: number) => {
    const params = { requestId, reason: "nobody waits any more" }
    const told = post(to, { method: "notifications/cancelled", params }, undefined, closeMs)
    return Effect.asVoid(Effect.forkIn(Effect.ignore(told), scope))
  }

  return {
    questions,

    ask: Effect.fnUntraced(function* (to, method, given, timeoutMs = endpoint.timeoutMs) {
      const id = nextId++
      const params = to?.version === sessionless ? { ...given, _meta: metaOf(client) } : given
      const reader = readerFor(id, (question) => void Queue.offerUnsafe(questions, question))
      const answer = yield* post(to, { id, method, params }, reader, timeoutMs).pipe(
        Effect.onError((cause) =>
          to === undefined || to.version === sessionless || !isGivenUp(cause) ? Effect.void : cancel(to, id)
        )
      )
      const found = isEvents(answer.headers) ? reader.found() : answerIn(answer.body, id)
      if (found === undefined) {
        return yield* protocolFailure(
          answer.truncated ? "the server's answer is too large" : "the server's answer is not one of MCP"
        )
      }
      if (found.error !== undefined) {
        const { code, message } = found.error
        const said = message.slice(0, errorChars).toWellFormed()
        return yield* protocolFailure(`the server answered error ${code}: ${said}`)
      }
      return { result: found.result, sessionId: answer.headers["mcp-session-id"] }
    }),

    send: (to, message) => Effect.asVoid(post(to, message, undefined, endpoint.timeoutMs)),

    close: (opened) =>
      opened.id === undefined
        ? Effect.void
        : Effect.ignore(
            http.request({
              method: "DELETE",
              url: endpoint.url,
              headers: headersFor(endpoint, opened, {}),
              body: undefined,
              timeoutMs: closeMs,
              maxBytes: 1024
            })
          )
  }
})

const accepted = (answer: SafeAnswer, to: Opened | undefined): Effect.Effect<SafeAnswer, McpFailure> => {
  if (answer.status >= 200 && answer.status < 300) return Effect.succeed(answer)
  const reason = answer.status === 404 && to?.id !== undefined ? "Expired" : "Refused"
  return Effect.fail(new McpFailure({ reason, message: `the server answered ${answer.status}` }))
}

const metaOf = (clientInfo: McpClientInfo) => ({
  "io.modelcontextprotocol/protocolVersion": sessionless,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {}
})

interface Reader {
  /** True once the answer is there. */
  readonly feed: (piece: Uint8Array) => boolean
  readonly found: () => RpcAnswer | undefined
}

/** Reads events until one of them answers. */
const readerFor = (id: number, onQuestion: (question: RpcRequest) => void): Reader => {
  const decoder = new TextDecoder()
  let found: RpcAnswer | undefined
  const parser = Sse.makeParser(
    (event) => {
      if (event._tag !== "Event") return
      for (const message of parseMessages(event.data)) {
        found ??= answerTo(id, message)
        const question = requestOf(message)
        if (question !== undefined) onQuestion(question)
      }
    },
    { maxEventSize: answerBytes }
  )
  return {
    feed: (piece) => {
      parser.feed(decoder.decode(piece, { stream: true }))
      return found !== undefined
    },
    found: () => found
  }
}

const answerIn = (body: Uint8Array, id: number): RpcAnswer | undefined =>
  parseMessages(new TextDecoder().decode(body))
    .map((message) => answerTo(id, message))
    .find((one) => one !== undefined)

const isGivenUp = (cause: Cause.Cause<McpFailure>): boolean =>
  cause.reasons.some((why) => why._tag === "Interrupt" || (why._tag === "Fail" && why.error.reason === "Timeout"))

const isEvents = (headers: Readonly<Record<string, string>>): boolean =>
  /^text\/event-stream\b/i.test(headers["content-type"] ?? "")

/** The server answered, but not as the protocol says. */
export const protocolFailure = (message: string) => new McpFailure({ reason: "Protocol", message })
