// Functions of the page that the agent may call. Each call gets exactly one answer within its time, also when
// the function throws, hangs or does not exist: the agent waits for it.
import type { AgentEvent, ClientEvent } from "@parley/contract/ClientEvent"
import { AgentSessionError } from "./AgentSessionError.ts"

/** Takes the parameters the agent gives; what it returns, or resolves to, is sent as JSON. */
export type ClientTool = (params: unknown) => unknown

type Call = Extract<AgentEvent, { readonly type: "client_tool.call" }>
type Result = Extract<ClientEvent, { readonly type: "client_tool.result" }>

/** The tools of a session, and where their answers go. */
export interface ClientToolsOptions {
  readonly tools: Readonly<Record<string, ClientTool>>
  readonly timeoutMs: number
  readonly send: (result: Result) => void
  readonly onError: (error: AgentSessionError) => void
}

/** Calls tools of the page for the agent. */
export class ClientTools {
  readonly #options: ClientToolsOptions
  readonly #tools: Map<string, ClientTool>

  constructor(options: ClientToolsOptions) {
    this.#options = options
    this.#tools = new Map(Object.entries(options.tools))
  }

  /** Returns the function that takes it away again. */
  register(name: string, tool: ClientTool): () => void {
    this.#tools.set(name, tool)
    return () => {
      if (this.#tools.get(name) === tool) this.#tools.delete(name)
    }
  }

  async answer({ callId, expectsResponse, params, toolName }: Call): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const { onError, send, timeoutMs } = this.#options
    try {
      const tool = this.#tools.get(toolName)
      if (tool === undefined) throw new AgentSessionError("tool_failed", `no client tool is called ${toolName}`)
      const limit = new Promise<never>((_, reject) => {
        const late = new AgentSessionError("tool_timeout", `${toolName} took longer than ${timeoutMs} ms`)
        timer = setTimeout(() => reject(late), timeoutMs)
      })
      const result = await Promise.race([Promise.resolve().then(() => tool(params)), limit])
      if (expectsResponse) send({ type: "client_tool.result", callId, result: result ?? null })
    } catch (cause) {
      const message = cause instanceof Error ? cause.message : String(cause)
      const error =
        cause instanceof AgentSessionError ? cause : new AgentSessionError("tool_failed", message, { cause })
      if (expectsResponse) send({ type: "client_tool.result", callId, result: message, isError: true })
      onError(error)
    } finally {
      clearTimeout(timer)
    }
  }
}
