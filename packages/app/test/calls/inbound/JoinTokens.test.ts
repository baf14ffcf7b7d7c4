import { assert, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { Effect } from "effect"
import { type JoinClaims, JoinTokens } from "../../../src/calls/inbound/JoinTokens.ts"

const key = new Uint8Array(32).fill(7)
const tokens = JoinTokens.make(key)
const mint = (claims: JoinClaims, by = tokens) => Effect.runPromise(by.mint(claims))
const verify = (token: string, nowSeconds?: number) => Effect.runPromise(tokens.verify(token, nowSeconds))
const now = Math.floor(Date.now() / 1000)
const claims = { sessionId: "session_1", identity: "user_1", expiresAt: now + 600 }

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")
const signed = (header: unknown, payload: unknown) => {
  const text = `${part(header)}.${part(payload)}`
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`
}

describe("JoinTokens", () => {
  it("are access tokens of the media protocol", async () => {
    const [header, payload] = (await mint(claims))
      .split(".")
      .slice(0, 2)
      .map((text) => JSON.parse(Buffer.from(text, "base64url").toString()) as Record<string, unknown>)
    assert.deepStrictEqual(header, { alg: "HS256", typ: "JWT" })
    assert.deepInclude(payload, { iss: "parley", sub: "user_1", exp: now + 600 })
    assert.deepStrictEqual(payload?.["video"], {
      room: "session_1",
      roomJoin: true,
      canPublish: true,
      canSubscribe: true,
      canPublishData: true
    })
    assert.notStrictEqual(await mint(claims), await mint(claims))
  })

  it("are taken while they hold, and known when expired", async () => {
    assert.deepStrictEqual(await verify(await mint(claims)), { ...claims, expired: false })
    assert.deepStrictEqual(await verify(await mint(claims), now + 601), { ...claims, expired: true })
    assert.isUndefined(await verify(await mint(claims), now - 3600))
  })

  it("are refused when anything about them is not ours", async () => {
    const good = await mint(claims)
    const [header = "", payload = "", signature = ""] = good.split(".")
    const video = { room: "session_1" }
    const body = { iss: "parley", sub: "u", exp: now + 600, nbf: now, video }
    const bad = [
      "",
      "a.b.c",
      `${good}.x`,
      `${header}.${payload}`,
      `${header}.${payload}.${signature.slice(1)}`,
      `${header}.${part({ ...body, video: { room: "session_2" } })}.${signature}`,
      `${part({ alg: "none" })}.${payload}.`,
      await mint(claims, JoinTokens.make(new Uint8Array(32))),
      signed({ alg: "none" }, body),
      signed({ alg: "HS256" }, { ...body, iss: "other" }),
      signed({ alg: "HS256" }, { ...body, exp: "never" }),
      signed({ alg: "HS256" }, { ...body, video: null }),
      signed({ alg: "HS256" }, [])
    ]
    for (const token of bad) assert.isUndefined(await verify(token), token)
    assert.isDefined(await verify(signed({ alg: "HS256" }, body)))
  })
})
