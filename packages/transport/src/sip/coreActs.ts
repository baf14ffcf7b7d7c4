// Acts on sip.js's core: it throws where a state does not allow an act, and takes bodies in a shape of its own.
import type { SipCore } from "./SipCore.ts"

/** A session description as the body of a message (RFC 3261, 13.2.1). */
export const sdpBody = (content: string) => ({
  contentDisposition: "session",
  contentType: "application/sdp",
  content
})

/** Whether it went without an exception: the core throws where a state does not allow an act. */
export const attempt = ({ enter }: Pick<SipCore, "enter">, act: () => unknown): boolean => {
  try {
    enter(act)
    return true
  } catch {
    return false
  }
}
