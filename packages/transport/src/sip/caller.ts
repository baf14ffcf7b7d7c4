// Who calls, as a trunk says it: the network's word first (RFC 3325), unless the caller wants to stay unknown
// (RFC 3323, RFC 3325 9.3). Pure.
import { headerIn, userOf } from "./text.ts"

/** Empty when withheld. Not judged: it may be any text. */
export const callerOf = (head: string): string => {
  const privacy = headerIn(head, "privacy") ?? ""
  if (/(^|[\s;,])(id|user|header)($|[\s;,])/i.test(privacy)) return ""
  const asserted = headerIn(head, "p-asserted-identity") ?? headerIn(head, "remote-party-id")
  const user = userOf(asserted ?? headerIn(head, "from", "f") ?? "")
  return /^(anonymous|unknown|restricted|unavailable|private)$/i.test(user) ? "" : user.slice(0, 64)
}
