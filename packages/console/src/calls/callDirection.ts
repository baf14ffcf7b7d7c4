// The other party of a telephone call and the call's direction.
import type { SessionListItem } from "@parley/contract/Session"

/** `to +12025550123` or `from +12025550123`. */
export const callDirection = ({
  caller_number,
  direction
}: Pick<SessionListItem, "caller_number" | "direction">): string =>
  `${direction === "outbound" ? "to" : "from"} ${caller_number || "a withheld number"}`
