// Who may call a number: every factor that its trunk sets must hold, the source address and the digest answer
// (RFC 3261, 22; RFC 8760). Keeps only the state of challenges, which is bounded.
import { Redacted } from "effect"
import type { InboundTrunk } from "../phone/Phone.ts"
import { among } from "./addressBlocks.ts"
import { DigestServer, type Verdict } from "./digest.ts"
import { Md5OnlyPeers } from "./Md5OnlyPeers.ts"
import { headerIn, headersIn } from "./text.ts"

/** 200 lets the call in; anything else is the refusal, with its headers. */
export type Admission = readonly [status: 200 | 401 | 403, headers: ReadonlyArray<string>]

const forbidden: Admission = [403, []]
/** One answer for each algorithm may be there (RFC 8760, 2.4). */
const mostAnswers = 4

/** Admits calls to numbers by their trunks. */
export class TrunkAdmission {
  readonly #digests: DigestServer
  readonly #md5Only = new Md5OnlyPeers()

  /** @param nowMs The clock of nonces. */
  constructor(nowMs?: () => number) {
    this.#digests = new DigestServer("parley", nowMs)
  }

  /** @param head The head of the INVITE. @param address Where it came from. */
  admit(trunk: InboundTrunk, head: string, address: string): Admission {
    if (trunk.allowedAddresses.length === 0 && trunk.digest === undefined) return forbidden
    if (trunk.allowedAddresses.length > 0 && !among(trunk.allowedAddresses, address)) return forbidden
    if (trunk.digest === undefined) return [200, []]
    const expected = { username: trunk.digest.username, password: Redacted.value(trunk.digest.password) }
    let verdict: Verdict = "missing"
    for (const given of headersIn(head, "authorization").slice(0, mostAnswers)) {
      verdict = this.#digests.verify(given, "INVITE", expected)
      if (verdict !== "good") continue
      if (!/algorithm\s*=\s*"?MD5/i.test(given)) this.#md5Only.delete(address)
      return [200, []]
    }
    if (verdict !== "missing") return [401, this.#digests.challenge(verdict === "stale")]
    const isMd5Only = this.#md5Only.ask(address, headerIn(head, "call-id", "i") ?? "")
    return [401, this.#digests.challenge(false, isMd5Only ? ["MD5"] : undefined)]
  }
}
