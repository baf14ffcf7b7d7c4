import { createHmac } from "node:crypto"
import { describe, expect, it } from "vitest"
import { signToken, verifyToken, type TokenClaims } from "../../src/livekit/token.ts"

const now = 1_800_000_000
const claims: TokenClaims = { iss: "key", sub: "ann", exp: now + 60, video: { room: "r", roomJoin: true } }
const fault = (token: string, nowSeconds = now): string => {
  const verdict = verifyToken(token, "secret", nowSeconds * 1000)
  return verdict._tag === "Valid" ? "valid" : verdict.fault
}

describe("token", () => {
  it("reads back what it signed", () => {
    expect(verifyToken(signToken(claims, "secret"), "secret", now * 1000)).toEqual({ _tag: "Valid", claims })
  })

  it("agrees with another implementation of RFC 7515", () => {
    const parts = signToken(claims, "secret").split(".")
    const mac = createHmac("sha256", "secret").update(`${parts[0]}.${parts[1]}`).digest("base64url")
    expect(parts[2]).toBe(mac)
    expect(JSON.parse(Buffer.from(parts[0] ?? "", "base64url").toString())).toEqual({ alg: "HS256", typ: "JWT" })
  })

  it.each([
    ["another secret", signToken(claims, "other"), "badSignature"],
    ["a changed body", signToken(claims, "secret").replace(/\.(.)/, ".f"), "malformed"],
    ["expired", signToken({ ...claims, exp: now - 11 }, "secret"), "expired"],
    ["not yet valid", signToken({ ...claims, nbf: now + 11 }, "secret"), "notYetValid"],
    ["no subject", signToken({ ...claims, sub: "" }, "secret"), "malformed"],
    ["nothing", "", "malformed"],
    ["dots", "..", "malformed"],
    ["a megabyte", "a".repeat(1e6), "malformed"]
  ])("refuses %s", (_, token, expected) => {
    expect(fault(token)).toBe(expected)
  })

  it("refuses a token that names no algorithm", () => {
    const body = Buffer.from(JSON.stringify(claims)).toString("base64url")
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url")
    expect(fault(`${none}.${body}.`)).toBe("malformed")
  })

  it("allows clocks to differ by ten seconds", () => {
    const token = signToken(claims, "secret")
    expect(fault(token, now + 69)).toBe("valid")
    expect(fault(token, now + 71)).toBe("expired")
  })
})
