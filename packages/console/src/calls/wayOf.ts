// Whom a telephone call was with; our own side is known.
import type { SessionListItem } from "@parley/contract/Session"

export const wayOf = ({ caller_number, direction }: Pick<SessionListItem, "caller_number" | "direction">): string =>
  `${direction === "outbound" ? "to" : "from"} ${caller_number || "a withheld number"}`
