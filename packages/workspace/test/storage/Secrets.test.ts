import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { createCipheriv, hkdfSync, randomBytes } from "node:crypto"
import { canonical } from "../../src/storage/canonicalJson.ts"
import { configHash } from "../../src/storage/configHash.ts"
import { expand } from "../../src/storage/masterKey.ts"
import { secretOwner } from "../../src/storage/SecretOwner.ts"
import { makeSecretBox } from "../../src/storage/SecretBox.ts"

/** As an earlier release sealed: without an owner. */
const sealedBefore = (master: Buffer, plain: string): string => {
  const nonce = randomBytes(12)
  const key = Buffer.from(hkdfSync("sha256", master, "", "parley/secrets", 32))
  const cipher = createCipheriv("aes-256-gcm", key, nonce)
  const body = Buffer.concat([cipher.update(plain), cipher.final()])
  return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`
}

describe("Secrets", () => {
  const master = randomBytes(32)
  const secrets = makeSecretBox(master)
  const [one, two] = [secretOwner.tool("tool_1"), secretOwner.tool("tool_2")]
  const ofOne = secrets.of(one)

  it("open what they sealed, and nothing that was touched", () => {
    const sealed = ofOne.seal("geheim 🤫", null)
    assert.notInclude(sealed, "geheim")
    assert.strictEqual(Redacted.value(ofOne.open(sealed)), "geheim 🤫")
    assert.throws(() => ofOne.open(`${sealed.slice(0, -2)}AA`))
    assert.throws(() => ofOne.open(""))
    assert.throws(() => makeSecretBox(randomBytes(32)).of(one).open(sealed))
  })

  it("open for their owner only, and move to another when the service copies", () => {
    const sealed = ofOne.seal("secret", null)
    for (const other of [two, secretOwner.mcpServer("tool_1"), secretOwner.agent("tool_1")]) {
      assert.throws(() => secrets.of(other).open(sealed), /does not open/)
      const text = JSON.stringify({ value: sealed, other: "v2.not sealed" })
      const { other: kept, value } = JSON.parse(secrets.moved(text, one, other)) as { other: string; value: string }
      assert.strictEqual(Redacted.value(secrets.of(other).open(value)), "secret")
      assert.strictEqual(kept, "v2.not sealed")
      assert.throws(() => ofOne.open(value))
    }
    assert.strictEqual(secrets.moved(sealed, two, one), sealed)
  })

  it("keep a seal over the same text", () => {
    const sealed = ofOne.seal("a", null)
    assert.strictEqual(ofOne.seal("a", sealed), sealed)
    assert.notStrictEqual(ofOne.seal("b", sealed), sealed)
    assert.notStrictEqual(ofOne.seal("a", null), sealed)
  })

  it("open what was sealed without an owner while there may be some, and seal it again with one", () => {
    const sealed = sealedBefore(master, "old")
    assert.throws(() => ofOne.open(sealed))
    const box = makeSecretBox(master, { unbound: true })
    assert.strictEqual(Redacted.value(box.of(one).open(sealed)), "old")
    const { count, text } = box.renewed(sealed, one)
    assert.deepStrictEqual([count, Redacted.value(ofOne.open(text))], [1, "old"])
    assert.throws(() => secrets.of(two).open(text))
    assert.deepStrictEqual(box.renewed(text, one), { text, count: 0 })
  })

  it("open what a former key sealed, and seal it again", () => {
    const next = makeSecretBox(randomBytes(32), { masters: [randomBytes(32), master] })
    const sealed = ofOne.seal("kept", null)
    assert.strictEqual(Redacted.value(next.of(one).open(sealed)), "kept")
    assert.throws(() => next.of(two).open(sealed))
    const { count, text } = next.renewed(`"${sealed}"`, one)
    assert.strictEqual(count, 1)
    assert.throws(() => ofOne.open(text.slice(1, -1)))
    assert.strictEqual(Redacted.value(next.of(one).open(text.slice(1, -1))), "kept")
  })

  it("derive another key for each purpose", () => {
    const one = Redacted.value(secrets.derive("join"))
    assert.deepStrictEqual(Redacted.value(secrets.derive("join")), one)
    assert.notDeepEqual(Redacted.value(secrets.derive("other")), one)
    assert.strictEqual(one.length, 32)
  })

  it("take a key as it is when it is 32 bytes", () => {
    const key = randomBytes(32)
    assert.deepStrictEqual(expand(key.toString("hex")), key)
    assert.deepStrictEqual(expand(key.toString("base64")), key)
    assert.strictEqual(expand("a passphrase of some length").length, 32)
  })
})

describe("configHash", () => {
  it("does not depend on the order of keys", () => {
    assert.strictEqual(
      canonical({ b: [1, { d: null, c: "x" }], a: 1, e: undefined }),
      '{"a":1,"b":[1,{"c":"x","d":null}]}'
    )
    assert.strictEqual(configHash({ a: 1, b: 2 }), configHash({ b: 2, a: 1 }))
    assert.match(configHash({}), /^sha256:[0-9a-f]{64}$/)
  })
})
