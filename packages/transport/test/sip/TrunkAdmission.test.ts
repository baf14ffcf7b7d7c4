// Whose call it is where several trunks have the number.
import { Redacted } from "effect"
import { describe, expect, it } from "vitest"
import type { InboundTrunk } from "../../src/phone/Phone.ts"
import { DigestClient } from "../../src/sip/digest.ts"
import { TrunkAdmission } from "../../src/sip/TrunkAdmission.ts"

const carrier = "203.0.113.7"
const user = (name: string) => ({ username: name, password: Redacted.make(`${name}-secret`) })
const trunk = (id: string, more: Partial<InboundTrunk> = {}): InboundTrunk => ({
  id,
  allowedAddresses: [],
  digest: undefined,
  ...more
})
const byAddress = (id: string, ...allowedAddresses: ReadonlyArray<string>) => trunk(id, { allowedAddresses })
const byPassword = (id: string, name = id) => trunk(id, { digest: user(name) })

let calls = 0
const invite = (headers: ReadonlyArray<string> = []) =>
  ["INVITE sip:1@parley SIP/2.0", `Call-ID: ${++calls}`, ...headers, "", ""].join("\r\n")

/** Calls as a carrier does: again with its password when it has one and is asked. */
const called = (admission: TrunkAdmission, trunks: ReadonlyArray<InboundTrunk>, address: string, name?: string) => {
  const first = admission.admit(trunks, invite(), address)
  if (first.status !== 401 || name === undefined) return first
  const challenge = first.headers.find((line) => line.includes("MD5")) ?? ""
  const field = (key: string) => new RegExp(`${key}="([^"]*)"`).exec(challenge)?.[1] ?? ""
  const client = new DigestClient(name, `${name}-secret`)
  const asked = { algorithm: "MD5", realm: field("realm"), nonce: field("nonce"), qop: "auth" }
  return admission.admit(trunks, invite([`Authorization: ${client.answer("INVITE", "sip:1@parley", asked)}`]), address)
}

describe("a number with several trunks", () => {
  const cases: ReadonlyArray<
    readonly [what: string, trunks: ReadonlyArray<InboundTrunk>, name: string | undefined, winner: string | number]
  > = [
    ["nobody has it", [], undefined, 404],
    ["nobody admits it", [byAddress("a", "192.0.2.1")], undefined, 403],
    [
      "the one whose address it is, though younger",
      [byAddress("a", "192.0.2.1"), byAddress("b", carrier)],
      undefined,
      "b"
    ],
    ["the narrower block", [byAddress("a", "203.0.0.0/8"), byAddress("b", "203.0.113.0/24")], undefined, "b"],
    [
      "the narrowest of one's blocks counts",
      [byAddress("a", "203.0.0.0/8", carrier), byAddress("b", "203.0.113.0/24")],
      undefined,
      "a"
    ],
    ["the older of equals", [byAddress("a", carrier), byAddress("b", carrier)], undefined, "a"],
    ["the password that is right", [byPassword("a"), byPassword("b")], "b", "b"],
    ["a password before an address", [byAddress("a", carrier), byPassword("b")], "b", "b"],
    [
      "a bought number before passwords",
      [byPassword("a"), { ...byAddress("b", "203.0.0.0/8"), isBought: true }],
      "a",
      "b"
    ],
    ["a wrong password is asked for again", [byPassword("a"), byPassword("b")], "c", 401],
    ["a password from elsewhere", [trunk("a", { digest: user("a"), allowedAddresses: ["192.0.2.1"] })], "a", 403],
    ["no factor at all", [trunk("a")], undefined, 403]
  ]
  it.each(cases)("%s", (_what, trunks, name, winner) => {
    const { status, trunk: found } = called(new TrunkAdmission(), trunks, carrier, name)
    expect(found?.id ?? status).toBe(winner)
  })

  it("lets a carrier without a password in from its next call on, and asks one that has answered for ever", () => {
    const trunks = [byPassword("squatter"), byAddress("owner", carrier)]
    const admission = new TrunkAdmission()
    expect(called(admission, trunks, carrier).status).toBe(401)
    expect(called(admission, trunks, carrier).trunk?.id).toBe("owner")
    const other = new TrunkAdmission()
    const reversed = [byAddress("squatter", carrier), byPassword("owner")]
    expect(called(other, reversed, carrier, "owner").trunk?.id).toBe("owner")
    expect(called(other, reversed, carrier).status).toBe(401)
    expect(called(other, reversed, carrier).status).toBe(401)
    expect(called(other, reversed, carrier, "owner").trunk?.id).toBe("owner")
  })
})
