// What an MCP server says, read without trusting it (JSON-RPC 2.0; MCP 2025-11-25, server/tools). Pure. What does not
// fit is left out or is nothing.
import type { McpTool } from "@parley/contract/McpServer"
import { mcpSchemaBytes } from "@parley/contract/McpServer"
import { utf8Length } from "@parley/contract/Field"

/** What a server asks of its client. */
export interface RpcRequest {
  readonly id: string | number
  readonly method: string
}

/** A result or an error. */
export interface RpcAnswer {
  readonly result?: unknown
  readonly error?: { readonly code: number; readonly message: string }
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

/** One message or a batch of them. */
export const parseMessages = (text: string): ReadonlyArray<Json> => {
  try {
    const value: unknown = JSON.parse(text)
    return (Array.isArray(value) ? value : [value]).filter(isObject)
  } catch {
    return []
  }
}

/** The answer to the request with this id; an error may omit whose it is. */
export const answerTo = (id: number, message: Json): RpcAnswer | undefined => {
  const { error, method, result } = message
  if (method !== undefined) return undefined
  if (isObject(error) && (message["id"] === id || message["id"] == null)) {
    const { code, message: said } = error
    return { error: { code: typeof code === "number" ? code : 0, message: typeof said === "string" ? said : "" } }
  }
  return message["id"] === id && result !== undefined ? { result } : undefined
}

/** The message as a request, if it is one. */
export const requestOf = ({ id, method }: Json): RpcRequest | undefined =>
  typeof method === "string" && (typeof id === "string" || typeof id === "number") ? { id, method } : undefined

/** The revision a greeting was answered with; empty when it says none. */
export const versionOf = (result: unknown): string =>
  isObject(result) && typeof result["protocolVersion"] === "string" ? result["protocolVersion"] : ""

/** Of an answer to `server/discover`. */
export const supports = (result: unknown, version: string): boolean =>
  isObject(result) && Array.isArray(result["supportedVersions"]) && result["supportedVersions"].includes(version)

/** A page of `tools/list`: tools that cannot be offered to a model are left out. */
export const toolsOf = (
  result: unknown
): { readonly tools: ReadonlyArray<McpTool>; readonly nextCursor: string | undefined } | undefined => {
  if (!isObject(result) || !Array.isArray(result["tools"])) return undefined
  const { nextCursor } = result
  return {
    tools: result["tools"].flatMap((tool: unknown): ReadonlyArray<McpTool> => {
      if (!isObject(tool)) return []
      const { description, inputSchema, name, title } = tool
      if (typeof name !== "string" || name === "" || name.length > 256) return []
      const parameters = isObject(inputSchema) ? inputSchema : { type: "object", properties: {} }
      if (utf8Length(JSON.stringify(parameters)) > mcpSchemaBytes) return []
      const said = [description, title].find((text) => typeof text === "string" && text !== "")
      return [{ name, description: typeof said === "string" ? said.slice(0, 4_000).toWellFormed() : name, parameters }]
    }),
    nextCursor: typeof nextCursor === "string" && nextCursor !== "" ? nextCursor : undefined
  }
}

/** What `tools/call` gave, as text for a model. */
export const contentOf = (result: unknown): { readonly text: string; readonly isError: boolean } | undefined => {
  if (!isObject(result)) return undefined
  const { content, isError, structuredContent } = result
  const texts = (Array.isArray(content) ? content : []).flatMap((part: unknown) => {
    if (!isObject(part)) return []
    const { resource, text, type, uri } = part
    if (type === "text" && typeof text === "string") return [text]
    if (type === "resource" && isObject(resource) && typeof resource["text"] === "string") return [resource["text"]]
    if (type === "resource_link" && typeof uri === "string") return [uri]
    return type === "image" || type === "audio" ? [`[${type}]`] : []
  })
  if (texts.length === 0 && structuredContent !== undefined) texts.push(JSON.stringify(structuredContent))
  return { text: texts.join("\n"), isError: isError === true }
}
