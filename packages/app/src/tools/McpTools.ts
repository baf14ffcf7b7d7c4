// Tools of MCP servers in a call: those the version was published with; for a draft asked for while the plan is made, within a time box and all at once, and run over one
// session with each server, which is opened when the call begins and closed behind it. A server that does not answer
// costs its tools and nothing else.
import { type McpEndpoint, type McpTool, mcpToolsPerSession } from "@parley/contract/McpServer"
import type { CallPlan } from "@parley/engine/CallPlan"
import { type RunTool, ToolFailure } from "@parley/engine/ports/CallParts"
import { type McpSession, openSession } from "@parley/workspace/mcp/McpClient"
import { McpFailure } from "@parley/workspace/mcp/McpFailure"
import { endpointOf, mcpClientInfo } from "@parley/workspace/mcp/McpEndpoint"
import type { RunnableMcpServer } from "@parley/workspace/mcp/PinnedMcp"
import { SafeHttp } from "@parley/workspace/outbound/SafeHttp"
import type { OpenSecrets } from "@parley/workspace/storage/SecretBox"
import { Effect, Exit, Scope, Semaphore } from "effect"

/** An MCP server that was asked for its tools. */
export interface ListedServer {
  readonly name: string
  readonly endpoint: McpEndpoint
  readonly tools: ReadonlyArray<McpTool>
}

/** The caller waits for it before the greeting. */
const listingMs = 3_000

/** What the MCP servers of a session answered; `missing`: journal entries for those that did not. */
export interface McpListing {
  readonly listed: ReadonlyArray<ListedServer>
  readonly missing: NonNullable<CallPlan["missing"]>
}

/** Does not fail: what cannot be asked is among `missing`. */
export const mcpListing = Effect.gen(function* () {
  const http = yield* SafeHttp
  const scope = yield* Effect.scope

  const ask = Effect.fnUntraced(function* (endpoint: McpEndpoint) {
    const life = yield* Scope.fork(scope)
    return yield* openSession(http, endpoint, mcpClientInfo).pipe(
      Effect.flatMap((session) => session.listTools(mcpToolsPerSession)),
      Scope.provide(life),
      // Nobody waits for the session to be closed.
      Effect.ensuring(Effect.forkIn(Scope.close(life, Exit.void), scope)),
      Effect.timeoutOrElse({
        duration: listingMs,
        orElse: () => Effect.fail(new McpFailure({ reason: "Timeout", message: "no answer in time" }))
      })
    )
  })

  return Effect.fn("McpTools.list")(function* (
    servers: ReadonlyArray<RunnableMcpServer>,
    secretsOf: OpenSecrets
  ): Effect.fn.Return<McpListing> {
    const answers = yield* Effect.forEach(
      servers,
      (server) => {
        const endpoint = endpointOf(server, secretsOf)
        const { name } = server.definition
        if (server.tools !== undefined) {
          return Effect.succeed({ listed: [{ name, endpoint, tools: server.tools }], missing: [] })
        }
        return Effect.match(ask(endpoint), {
          onSuccess: (tools) => ({ listed: [{ name, endpoint, tools }], missing: [] }),
          onFailure: ({ message }) => ({
            listed: [],
            missing: [{ name: "mcp_server_missing", data: { mcp_server_id: endpoint.id, name, message } }]
          })
        })
      },
      { concurrency: "unbounded" }
    )
    return { listed: answers.flatMap(({ listed }) => listed), missing: answers.flatMap(({ missing }) => missing) }
  })
})

/** For each call: runs its tools at MCP servers, over sessions in the call's scope. */
export const mcpTools = Effect.gen(function* () {
  const http = yield* SafeHttp
  const service = yield* Effect.scope

  return Effect.fnUntraced(function* (plan: CallPlan): Effect.fn.Return<RunTool, never, Scope.Scope> {
    const endpoints = new Map(plan.tools.flatMap(({ mcp }) => (mcp === undefined ? [] : [[mcp.server.id, mcp.server]])))
    const life = yield* Scope.fork(service)
    // The end of the call does not wait for sessions to be closed.
    yield* Effect.addFinalizer(() => Effect.asVoid(Effect.forkIn(Scope.close(life, Exit.void), service)))

    const sessions = new Map<string, McpSession>()
    const turns = new Map<string, Semaphore.Semaphore>()
    for (const id of endpoints.keys()) turns.set(id, yield* Semaphore.make(1))
    /** One session a server; one that could not be opened is tried again by the next call. */
    const sessionWith = (endpoint: McpEndpoint): Effect.Effect<McpSession, McpFailure> =>
      inTurn(turns.get(endpoint.id))(
        Effect.suspend(() => {
          const known = sessions.get(endpoint.id)
          if (known !== undefined) return Effect.succeed(known)
          return openSession(http, endpoint, mcpClientInfo).pipe(
            Scope.provide(life),
            Effect.tap((session) => Effect.sync(() => sessions.set(endpoint.id, session)))
          )
        })
      )
    yield* Effect.forEach(endpoints.values(), (endpoint) => Effect.forkIn(Effect.ignore(sessionWith(endpoint)), life), {
      discard: true
    })

    return ({ args, tool: { mcp, spec, timeoutMs } }) =>
      mcp === undefined
        ? Effect.fail(new ToolFailure({ message: `${spec.name} cannot be run here` }))
        : sessionWith(mcp.server).pipe(
            Effect.flatMap((session) => session.callTool(mcp.tool, args, timeoutMs)),
            Effect.mapError(({ message }) => new ToolFailure({ message }))
          )
  })
})

const inTurn =
  (turn: Semaphore.Semaphore | undefined) =>
  <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    turn === undefined ? effect : turn.withPermits(1)(effect)
