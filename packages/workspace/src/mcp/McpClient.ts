// One session with an MCP server over Streamable HTTP (MCP 2025-11-25, basic/transports; servers of 2025-03-26 and
// later are understood, those that only speak the revision without sessions, 2026-07-28, too). Every request is a POST on a connection of its own through SafeHttp, answered by JSON or by
// events; an answer is read no further than its own message. The session is deleted with the scope. The library's own
// client speaks one fixed revision with a server; most servers are of another than the newest.
import type { McpEndpoint, McpTool } from "@parley/contract/McpServer"
import { type Cause, Effect, Queue, type Scope, Semaphore } from "effect"
import * as Sse from "effect/encoding/Sse"
import type { SafeAnswer, SafeHttp } from "../outbound/SafeHttp.ts"
import { McpFailure } from "./McpFailure.ts"
import { headersFor, type Message, type Opened, type Params, sessionless } from "./McpHeaders.ts"
import {
  answerTo,
  contentOf,
  parseMessages,
  requestOf,
  type RpcAnswer,
  type RpcRequest,
  supports,
  toolsOf,
  versionOf
} from "./McpMessage.ts"

const newest = "2025-11-25"
const understood: ReadonlySet<string> = new Set([newest, "2025-06-18", "2025-03-26", "2024-11-05"])
const answerBytes = 2 * 2 ** 20
/** The history keeps 256 KB of an answer and marks what is longer. */
const textChars = 256 * 1024 + 1
const errorChars = 4_096
const mostPages = 20
const closeMs = 2_000

export interface McpSession {
  /** At most `most`, in the server's order. */
  readonly listTools: (most: number) => Effect.Effect<ReadonlyArray<McpTool>, McpFailure>
  /** The text of what the tool gave. */
  readonly callTool: (
    name: string,
    args: Readonly<Record<string, unknown>>,
    timeoutMs: number
  ) => Effect.Effect<string, McpFailure>
}

/** Greets the server. Every request is bounded by the endpoint's time-out. */
export const openSession = Effect.fnUntraced(function* (
  http: SafeHttp["Service"],
  endpoint: McpEndpoint,
  client: { readonly name: string; readonly version: string }
): Effect.fn.Return<McpSession, McpFailure, Scope.Scope> {
  const scope = yield* Effect.scope
  const questions = yield* Queue.dropping<RpcRequest>(16)
  const opening = yield* Semaphore.make(1)
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

  const notify = (to: Opened, method: string) => post(to, { method }, undefined, endpoint.timeoutMs)

  const ask = Effect.fnUntraced(function* (
    to: Opened | undefined,
    method: string,
    given: Params,
    timeoutMs = endpoint.timeoutMs
  ) {
    const id = nextId++
    const params = to?.version === sessionless ? { ...given, _meta: metaOf(client) } : given
    const reader = readerFor(id, (question) => void Queue.offerUnsafe(questions, question))
    const answer = yield* post(to, { id, method, params }, reader, timeoutMs).pipe(
      // Whoever stops waiting says so.
      Effect.onError((cause) =>
        to === undefined || to.version === sessionless || !isGivenUp(cause)
          ? Effect.void
          : Effect.asVoid(
              Effect.forkIn(
                Effect.ignore(
                  post(
                    to,
                    { method: "notifications/cancelled", params: { requestId: id, reason: "nobody waits any more" } },
                    undefined,
                    closeMs
                  )
                ),
                scope
              )
            )
      )
    )
    const found = isEvents(answer.headers)
      ? reader.found()
      : parseMessages(new TextDecoder().decode(answer.body))
          .map((message) => answerTo(id, message))
          .find((one) => one !== undefined)
    if (found === undefined) {
      return yield* protocolFailure(
        answer.truncated ? "the server's answer is too large" : "the server's answer is not one of MCP"
      )
    }
    if (found.error !== undefined) {
      const { code, message } = found.error
      return yield* protocolFailure(`the server answered error ${code}: ${message.slice(0, errorChars).toWellFormed()}`)
    }
    return { result: found.result, sessionId: answer.headers["mcp-session-id"] }
  })

  const greet = Effect.gen(function* () {
    const params = { protocolVersion: newest, capabilities: {}, clientInfo: client }
    const { result, sessionId } = yield* ask(undefined, "initialize", params)
    const version = versionOf(result)
    if (!understood.has(version)) return yield* protocolFailure("the server speaks another version of MCP")
    const opened: Opened = { version, id: sessionId }
    yield* notify(opened, "notifications/initialized")
    return opened
  })

  const open = Effect.catchIf(greet, mayBeSessionless, (failure) => {
    const opened: Opened = { version: sessionless, id: undefined }
    return ask(opened, "server/discover", {}).pipe(
      Effect.filterOrFail(
        ({ result }) => supports(result, sessionless),
        () => failure
      ),
      Effect.as(opened),
      Effect.mapError(() => failure)
    )
  })

  const close = ({ id, version }: Opened) =>
    id === undefined
      ? Effect.void
      : Effect.ignore(
          http.request({
            method: "DELETE",
            url: endpoint.url,
            headers: headersFor(endpoint, { id, version }, {}),
            body: undefined,
            timeoutMs: closeMs,
            maxBytes: 1024
          })
        )

  let session = yield* open
  yield* Effect.addFinalizer(() => close(session))

  /** A server that was started anew knows no session: nothing was done, and one more try opens another. */
  const within = <A>(use: (opened: Opened) => Effect.Effect<A, McpFailure>): Effect.Effect<A, McpFailure> =>
    Effect.suspend(() => {
      const used = session
      return use(used).pipe(
        Effect.catchIf(
          ({ reason }) => reason === "Expired",
          () =>
            opening
              .withPermits(1)(
                Effect.suspend(() =>
                  session === used ? Effect.map(open, (opened) => (session = opened)) : Effect.succeed(session)
                )
              )
              .pipe(Effect.flatMap(use))
        )
      )
    })

  // Of what a server may ask of a client only `ping` is offered.
  yield* Queue.take(questions).pipe(
    Effect.flatMap(({ id, method }) =>
      post(
        session,
        method === "ping" ? { id, result: {} } : { id, error: { code: -32_601, message: "Method not found" } },
        undefined,
        endpoint.timeoutMs
      ).pipe(Effect.ignore)
    ),
    Effect.forever,
    Effect.forkScoped
  )

  return {
    listTools: Effect.fnUntraced(function* (most) {
      const tools: Array<McpTool> = []
      let cursor: string | undefined
      for (let pages = 0; pages < mostPages && tools.length < most; pages++) {
        const params = cursor === undefined ? {} : { cursor }
        const page = toolsOf((yield* within((opened) => ask(opened, "tools/list", params))).result)
        if (page === undefined) return yield* protocolFailure("the server's list of tools cannot be read")
        tools.push(...page.tools)
        cursor = page.nextCursor
        if (cursor === undefined) break
      }
      return tools.slice(0, most)
    }),
    callTool: Effect.fnUntraced(function* (name, args, timeoutMs) {
      const params = { name, arguments: args }
      const { result } = yield* within((opened) => ask(opened, "tools/call", params, timeoutMs))
      const content = contentOf(result)
      if (content === undefined) return yield* protocolFailure("the tool's result cannot be read")
      if (!content.isError) return content.text.slice(0, textChars)
      const said = content.text.slice(0, errorChars).toWellFormed()
      return yield* new McpFailure({ reason: "Tool", message: said === "" ? "the tool failed" : said })
    })
  }
})

const accepted = (answer: SafeAnswer, to: Opened | undefined): Effect.Effect<SafeAnswer, McpFailure> => {
  if (answer.status >= 200 && answer.status < 300) return Effect.succeed(answer)
  const reason = answer.status === 404 && to?.id !== undefined ? "Expired" : "Refused"
  return Effect.fail(new McpFailure({ reason, message: `the server answered ${answer.status}` }))
}

const metaOf = (clientInfo: Params) => ({
  "io.modelcontextprotocol/protocolVersion": sessionless,
  "io.modelcontextprotocol/clientInfo": clientInfo,
  "io.modelcontextprotocol/clientCapabilities": {}
})

/** It did answer, though not to a greeting. */
const mayBeSessionless = ({ message, reason }: McpFailure): boolean =>
  reason === "Protocol" || (reason === "Refused" && /40[045]$/.test(message))

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

const isGivenUp = (cause: Cause.Cause<McpFailure>): boolean =>
  cause.reasons.some((why) => why._tag === "Interrupt" || (why._tag === "Fail" && why.error.reason === "Timeout"))

const isEvents = (headers: Readonly<Record<string, string>>): boolean =>
  /^text\/event-stream\b/i.test(headers["content-type"] ?? "")

const protocolFailure = (message: string) => new McpFailure({ reason: "Protocol", message })
