// Who may call a number, and whose call it is: several workspaces may have imported it, and importing proves nothing. The
// call is that trunk's whose factors hold, the source address and the digest answer (RFC 3261, 22; RFC 8760). Where more
// than one holds: bought numbers, then credentials before addresses, narrower blocks before wider, then the given order.
// Keeps only the state of challenges, which is bounded.
import { Redacted } from "effect"
import type { InboundTrunk } from "../phone/Phone.ts"
import { narrowest } from "./addressBlocks.ts"
import { DigestServer, type Verdict } from "./digest.ts"
import { Md5OnlyPeers } from "./Md5OnlyPeers.ts"
import { SilentPeers } from "./SilentPeers.ts"
import { headerIn, headersIn } from "./text.ts"

/** The trunk whose call it is; without one the refusal, with its headers. */
export interface Admission {
  readonly trunk: InboundTrunk | undefined
  readonly status: 200 | 401 | 403 | 404
  readonly headers: ReadonlyArray<string>
}

/** One answer for each algorithm may be there (RFC 8760, 2.4). */
const mostAnswers = 4

/** Admits calls to numbers by their trunks. */
export class TrunkAdmission {
  readonly #digests: DigestServer
  readonly #md5Only = new Md5OnlyPeers()
  readonly #silent = new SilentPeers()

  /** @param nowMs The clock of nonces. */
  constructor(nowMs?: () => number) {
    this.#digests = new DigestServer("parley", nowMs)
  }

  /**
   * @param trunks All trunks of the number; their order decides between equals.
   * @param head The head of the INVITE.
   * @param address Where it came from.
   */
  admit(trunks: ReadonlyArray<InboundTrunk>, head: string, address: string): Admission {
    if (trunks.length === 0) return refusal(404)
    const reachable = ranked(trunks, address)
    const byAddress = reachable.find(({ digest }) => digest === undefined)
    const guarded = reachable.filter(({ digest }) => digest !== undefined)
    const [first] = reachable
    if (first === undefined) return refusal(403)
    // A bought number whose factor holds, or nobody who asks for a password.
    if (byAddress !== undefined && (guarded.length === 0 || (byAddress === first && byAddress.isBought === true))) {
      return admitted(byAddress)
    }
    const callId = headerIn(head, "call-id", "i") ?? ""
    const { trunk, verdict } = this.#answered(guarded, head)
    const peer = `${address} ${trunks[0]?.id}`
    if (trunk !== undefined) {
      this.#silent.spoke(peer)
      if (!isMd5(head)) this.#md5Only.delete(address)
      return admitted(trunk)
    }
    if (verdict !== "missing") return { ...refusal(401), headers: this.#digests.challenge(verdict === "stale") }
    // Its carrier has no password, or it would have answered the last time.
    if (byAddress !== undefined && this.#silent.ask(peer, callId)) return admitted(byAddress)
    const isMd5Only = this.#md5Only.ask(address, callId)
    return { ...refusal(401), headers: this.#digests.challenge(false, isMd5Only ? ["MD5"] : undefined) }
  }

  /** The trunk that an answer of the INVITE is right for; else the verdict on the last answer. */
  #answered(
    guarded: ReadonlyArray<InboundTrunk>,
    head: string
  ): { readonly trunk?: InboundTrunk; readonly verdict: Verdict } {
    let verdict: Verdict = "missing"
    for (const given of headersIn(head, "authorization").slice(0, mostAnswers)) {
      verdict = "wrong"
      for (const trunk of guarded) {
        const { password, username } = trunk.digest ?? nobody
        const judged = this.#digests.verify(given, "INVITE", { username, password: Redacted.value(password) })
        if (judged === "good") return { trunk, verdict: judged }
        if (judged === "stale") verdict = judged
      }
    }
    return { verdict }
  }
}

/** Trunks whose address factor holds and that have a factor at all, best first. */
const ranked = (trunks: ReadonlyArray<InboundTrunk>, address: string): ReadonlyArray<InboundTrunk> =>
  trunks
    .flatMap((trunk) => {
      const { allowedAddresses, digest, isBought = false } = trunk
      const block = narrowest(allowedAddresses, address)
      const isAny = allowedAddresses.length === 0
      if (isAny ? digest === undefined : block === undefined) return []
      return [{ trunk, rank: [Number(isBought), Number(digest !== undefined), block ?? -1] }]
    })
    .toSorted((one, other) => {
      const differs = one.rank.findIndex((value, index) => value !== other.rank[index])
      return differs < 0 ? 0 : (other.rank[differs] ?? 0) - (one.rank[differs] ?? 0)
    })
    .map(({ trunk }) => trunk)

const admitted = (trunk: InboundTrunk): Admission => ({ trunk, status: 200, headers: [] })

const refusal = (status: 401 | 403 | 404): Admission => ({ trunk: undefined, status, headers: [] })

const isMd5 = (head: string): boolean =>
  headersIn(head, "authorization").every((given) => /algorithm\s*=\s*"?MD5/i.test(given))

const nobody = { username: "", password: Redacted.make("") }
