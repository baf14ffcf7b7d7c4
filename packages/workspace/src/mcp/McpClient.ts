// One session with an MCP server over Streamable HTTP (MCP 2025-11-25; servers of 2025-03-26 and later are understood,
// those that only speak the revision without sessions, 2026-07-28, too). The session is deleted with the scope. Ours,
// because Effect's own client speaks one fixed revision with a server; most servers are of another than the newest.
import type { McpEndpoint, McpTool } from "@parley/contract/McpServer"
import { Effect, Queue, type Scope, Semaphore } from "effect"
import type { SafeHttp } from "../outbound/SafeHttp.ts"
import * as McpExchange from "./McpExchange.ts"
import { McpFailure } from "./McpFailure.ts"
import { type Opened, sessionless } from "./McpHeaders.ts"
import { contentOf, supports, toolsOf, versionOf } from "./McpMessage.ts"

const newest = "2025-11-25"
const understood: ReadonlySet<string> = new Set([newest, "2025-06-18", "2025-03-26", "2024-11-05"])
/** The history keeps 256 KB of an answer and marks what is longer. */
const textChars = 256 * 1024 + 1
const mostPages = 20

/** An open session with a server. */
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
  client: McpExchange.McpClientInfo
): Effect.fn.Return<McpSession, McpFailure, Scope.Scope> {
  const exchange = yield* McpExchange.make(http, endpoint, client)
  const opening = yield* Semaphore.make(1)
  const open = greet(exchange, client)
  let session = yield* open
  yield* Effect.addFinalizer(() => exchange.close(session))

  const openAnew = (used: Opened) =>
    opening.withPermits(1)(
      Effect.suspend(() =>
        session === used ? Effect.map(open, (opened) => (session = opened)) : Effect.succeed(session)
      )
    )
  /** A server that was started anew knows no session: nothing was done, and one more try opens another. */
  const within = <A>(use: (opened: Opened) => Effect.Effect<A, McpFailure>): Effect.Effect<A, McpFailure> =>
    Effect.suspend(() => {
      const used = session
      return Effect.catchIf(
        use(used),
        ({ reason }) => reason === "Expired",
        () => Effect.flatMap(openAnew(used), use)
      )
    })

  // Of what a server may ask of a client only `ping` is offered.
  yield* Queue.take(exchange.questions).pipe(
    Effect.flatMap(({ id, method }) =>
      exchange.send(
        session,
        method === "ping" ? { id, result: {} } : { id, error: { code: -32_601, message: "Method not found" } }
      )
    ),
    Effect.ignore,
    Effect.forever,
    Effect.forkScoped
  )

  return {
    listTools: Effect.fnUntraced(function* (most) {
      const tools: Array<McpTool> = []
      let cursor: string | undefined
      for (let pages = 0; pages < mostPages && tools.length < most; pages++) {
        const params = cursor === undefined ? {} : { cursor }
        const page = toolsOf((yield* within((opened) => exchange.ask(opened, "tools/list", params))).result)
        if (page === undefined) return yield* McpExchange.protocolFailure("the server's list of tools cannot be read")
        tools.push(...page.tools)
        cursor = page.nextCursor
        if (cursor === undefined) break
      }
      return tools.slice(0, most)
    }),

    callTool: Effect.fnUntraced(function* (name, args, timeoutMs) {
      const params = { name, arguments: args }
      const { result } = yield* within((opened) => exchange.ask(opened, "tools/call", params, timeoutMs))
      const content = contentOf(result)
      if (content === undefined) return yield* McpExchange.protocolFailure("the tool's result cannot be read")
      if (!content.isError) return content.text.slice(0, textChars)
      const said = content.text.slice(0, McpExchange.errorChars).toWellFormed()
      return yield* new McpFailure({ reason: "Tool", message: said === "" ? "the tool failed" : said })
    })
  }
})

/** Greets as revisions with sessions do; a server that does not know that is asked whether it knows none. */
const greet = ({ ask, send }: McpExchange.McpExchange, client: McpExchange.McpClientInfo) => {
  const greeting = Effect.gen(function* () {
    const params = { protocolVersion: newest, capabilities: {}, clientInfo: client }
    const { result, sessionId } = yield* ask(undefined, "initialize", params)
    const version = versionOf(result)
    if (!understood.has(version)) {
      return yield* McpExchange.protocolFailure("the server speaks another version of MCP")
    }
    const opened: Opened = { version, id: sessionId }
    yield* send(opened, { method: "notifications/initialized" })
    return opened
  })
  return Effect.catchIf(greeting, mayBeSessionless, (failure) => {
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
}

/** It did answer, though not to a greeting. */
const mayBeSessionless = ({ message, reason }: McpFailure): boolean =>
  reason === "Protocol" || (reason === "Refused" && /40[045]$/.test(message))
