// Whatever an INVITE carries and however its lines end: what reaches sip.js has a body that sip.js can name, or none.
import { IncomingRequestMessage } from "sip.js/lib/core/index.js"
import { getBody } from "sip.js/lib/core/messages/body.js"
import { describe, expect, it } from "vitest"
import { plainBody } from "../../src/sip/body.ts"
import { parse } from "../../src/sip/SipCore.ts"
import { addBranch, normalise, peekHeaders, unfolded } from "../../src/sip/text.ts"
import { faultIn } from "../../src/sip/validate.ts"
import { oddBody } from "../../src/testing/OddBodies.ts"
import { chanceOf, extras, mutated, request } from "../../src/testing/SipGrammar.ts"

const spoken = { method: "INVITE", callId: "a", branch: "z9hG4bKa", cseq: 1, fromTag: "a", toTag: "" }

describe("an INVITE that is let through to sip.js", () => {
  it("has a body that can be named", { timeout: 120_000 }, () => {
    const chance = chanceOf(5)
    let reached = 0
    for (let i = 0; i < 20_000; i++) {
      const text = normalise(
        addBranch(unfolded(mutated(request({ ...spoken, extra: extras(chance), ...oddBody(chance) }), chance)))
      )
      const seen = text === undefined ? undefined : peekHeaders(text)
      if (text === undefined || seen?.method !== "INVITE") continue
      const plain = plainBody(text, seen)
      if (faultIn(plain, seen) !== undefined) continue
      const message = parse(plain)
      if (!(message instanceof IncomingRequestMessage)) continue
      reached++
      expect(() => getBody(message), plain).not.toThrow()
    }
    expect(reached).toBeGreaterThan(1_000)
  })
})
