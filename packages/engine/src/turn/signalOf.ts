// What the client and the leg tell, as signals of turn-taking. Pure.
import type { ClientEvent } from "@parley/contract/ClientEvent"
import type { EndReason } from "@parley/contract/EndReason"
import type { Signal } from "./Signal.ts"

/** Results of client tools are no signals: they go to the tool that waits for them. */
export const signalOf = (event: Exclude<ClientEvent, { type: "client_tool.result" }>): Signal => {
  switch (event.type) {
    case "user.message":
      return { _tag: "Typed", text: event.text, spoken: event.audio ?? true }
    case "user.activity":
      return { _tag: "ActivitySeen" }
    case "user.interrupt":
      return { _tag: "InterruptAsked" }
    case "user.hangup":
      return { _tag: "EndAsked", reason: "user_hangup" }
  }
}

/** Why a call ends whose leg closed by itself. */
export const closedReasons: Readonly<Record<"left" | "lost" | "failed", EndReason>> = {
  left: "user_hangup",
  lost: "heartbeat_timeout",
  failed: "internal_error"
}
