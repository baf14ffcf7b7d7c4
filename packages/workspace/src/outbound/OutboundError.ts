// What can go wrong with a request to a customer's address. Messages are for people and models: they hold neither
// the address nor what it resolved to.
import { Data } from "effect"

/** What went wrong; each says whether anything was connected to. */
export type OutboundReason =
  /** No URL, another scheme, credentials in it, or a header or method that cannot be sent. */
  | "InvalidRequest"
  /** The host is, or resolves to, an address the service may not call. Nothing was connected to. */
  | "Forbidden"
  | "Unresolved"
  | "Unreachable"
  | "Untrusted"
  | "Timeout"
  /** The connection closed or broke before the answer was whole. */
  | "BrokenOff"

/** A request that came to no whole answer. */
export class OutboundError extends Data.TaggedError("OutboundError")<{
  readonly reason: OutboundReason
  readonly message: string
}> {
  get isRetryable(): boolean {
    return this.reason !== "InvalidRequest" && this.reason !== "Forbidden" && this.reason !== "Untrusted"
  }
}
