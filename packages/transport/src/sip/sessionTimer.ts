// Session timers (RFC 4028): who keeps the session alive, how often, and when it counts as dead. Pure.

/** What was agreed about keeping a session alive. */
export interface SessionTimer {
  readonly seconds: number
  /** Whether we send the re-INVITE. */
  readonly ours: boolean
}

/** Min-SE (RFC 4028, 5). */
const leastSeconds = 90
const mostSeconds = 7_200

/** From the headers of a request that came: what to answer with; `tooSmall` is a 422. */
export const askedOf = (
  sessionExpires: string | undefined,
  supported: string
): { readonly timer: SessionTimer; readonly header: string } | "tooSmall" | undefined => {
  const seconds = Number(/^\s*(\d{1,9})/.exec(sessionExpires ?? "")?.[1] ?? 0)
  if (seconds === 0) return undefined
  if (seconds < leastSeconds) return "tooSmall"
  const bounded = Math.min(seconds, mostSeconds)
  const theyCan = /(^|[\s,])timer($|[\s,])/i.test(supported)
  const asked = /;\s*refresher\s*=\s*(uac|uas)/i.exec(sessionExpires ?? "")?.[1]?.toLowerCase()
  const refresher = asked ?? (theyCan ? "uac" : "uas")
  return {
    timer: { seconds: bounded, ours: refresher === "uas" },
    header: `Session-Expires: ${bounded};refresher=${refresher}`
  }
}

/** From the headers of an answer to our request. */
export const answeredOf = (sessionExpires: string | undefined): SessionTimer | undefined => {
  const seconds = Number(/^\s*(\d{1,9})/.exec(sessionExpires ?? "")?.[1] ?? 0)
  if (seconds < leastSeconds) return undefined
  const theirs = /;\s*refresher\s*=\s*uas/i.test(sessionExpires ?? "")
  return { seconds: Math.min(seconds, mostSeconds), ours: !theirs }
}

/** When we refresh, or when we give up on them: seconds after the last refresh (RFC 4028, 10). */
export const dueSeconds = ({ ours, seconds }: SessionTimer): number =>
  ours ? seconds / 2 : seconds - Math.min(32, seconds / 3)
