import { Data } from "effect"

/** `Expired`: the server does not know the session any more. `Tool`: the tool itself says that it failed. */
export type McpFailureReason = "Unreachable" | "Timeout" | "Refused" | "Protocol" | "Expired" | "Tool"

/** Why a server could not be asked. */
export class McpFailure extends Data.TaggedError("McpFailure")<{
  readonly reason: McpFailureReason
  /** For the model, the history and people; holds no credential and no address. */
  readonly message: string
}> {}
