// The headers a request to an MCP server is led by (MCP 2025-11-25 and 2026-07-28, basic/transports). Pure.
import type { McpEndpoint } from "@parley/contract/McpServer"
import { Redacted } from "effect"
import type { HeaderList } from "../outbound/HttpExchange.ts"

/** Knows no sessions: each request says who asks. */
export const sessionless = "2026-07-28"

/** Parameters of a JSON-RPC message. */
export type Params = Readonly<Record<string, unknown>>

/** A JSON-RPC message without its version. */
export interface Message {
  readonly method?: string
  readonly params?: Params
  readonly id?: string | number
  readonly result?: unknown
  readonly error?: unknown
}

/** What the greeting agreed on: the revision, and the server's session if it has one. */
export interface Opened {
  readonly version: string
  readonly id: string | undefined
}

/** The customer's headers cannot speak for the protocol. */
export const headersFor = (
  { headers }: McpEndpoint,
  opened: Opened | undefined,
  { method, params }: Message
): HeaderList => [
  ...headers
    .filter(({ name }) => !/^(accept|content-type|mcp-.*)$/i.test(name))
    .map(({ name, value }) => [name, Redacted.value(value)] as const),
  ["Content-Type", "application/json"],
  ["Accept", "application/json, text/event-stream"],
  ...(opened === undefined ? [] : [["MCP-Protocol-Version", opened.version] as const]),
  ...(opened?.id === undefined ? [] : [["Mcp-Session-Id", opened.id] as const]),
  ...(opened?.version === sessionless && method !== undefined ? routing(method, params?.["name"]) : [])
]

/** What a request without a session is led by; a name that is no plain header text is sent encoded. */
const routing = (method: string, name: unknown): HeaderList => [
  ["Mcp-Method", method],
  ...(typeof name !== "string"
    ? []
    : [
        [
          "Mcp-Name",
          /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(name) && !name.startsWith("=?")
            ? name
            : `=?base64?${Buffer.from(name).toString("base64")}?=`
        ] as const
      ])
]
