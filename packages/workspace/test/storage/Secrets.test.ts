import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { randomBytes } from "node:crypto"
import { canonical } from "../../src/storage/canonicalJson.ts"
import { configHash } from "../../src/storage/configHash.ts"
import { expand } from "../../src/storage/masterKey.ts"
import { makeSecretBox } from "../../src/storage/SecretBox.ts"

describe("Secrets", () => {
  const secrets = makeSecretBox(randomBytes(32))

  it("open what they sealed, and nothing that was touched", () => {
    const sealed = secrets.seal("geheim 🤫", null)
    assert.notInclude(sealed, "geheim")
    assert.strictEqual(Redacted.value(secrets.open(sealed)), "geheim 🤫")
    assert.throws(() => secrets.open(`${sealed.slice(0, -2)}AA`))
    assert.throws(() => makeSecretBox(randomBytes(32)).open(sealed))
  })

  it("keep a seal over the same text", () => {
    const sealed = secrets.seal("a", null)
    assert.strictEqual(secrets.seal("a", sealed), sealed)
    assert.notStrictEqual(secrets.seal("b", sealed), sealed)
    assert.notStrictEqual(secrets.seal("a", null), sealed)
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
