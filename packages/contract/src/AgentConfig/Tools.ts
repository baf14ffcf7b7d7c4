// Section `tools`: which of the workspace's tools the agent may use, and the built-in ones. `mcp_server_ids` and
// `send_digits` are our own and absent where they were never set.
import { Schema } from "effect"
import { defaulted, listOf, textBetween } from "../Field.ts"

/** Section `tools`: ids of tools and MCP servers, and the tools of the service itself. */
export const Tools = Schema.Struct({
  enabled: defaulted(Schema.Boolean, true),
  tool_ids: defaulted(listOf(textBetween(1, 128), 100), []),
  mcp_server_ids: Schema.optionalKey(listOf(textBetween(1, 128), 10)),
  /** `send_digits`: on the telephone the agent may press keys. */
  system_tools: defaulted(
    Schema.Struct({ hang_up_call: defaulted(Schema.Boolean, false), send_digits: Schema.optionalKey(Schema.Boolean) }),
    {}
  )
})
export type Tools = typeof Tools.Type
