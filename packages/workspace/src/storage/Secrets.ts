// Secrets at rest: AES-256-GCM with one master key, from PARLEY_SECRET_KEY or a generated file that only the owner
// reads. Sealed text is `v1.` and base64url of nonce, tag and ciphertext. Keys for other purposes are derived
// (HKDF-SHA256, RFC 5869), never stored. A key that does not fit the database stops the start.
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto"
import { Database, DataFolder } from "./Database.ts"
import { expand, keyFile } from "./masterKey.ts"
import { StartFault } from "./StartFault.ts"
import { rowsOf } from "./rows.ts"

/** Sealing and opening of secrets. */
export class Secrets extends Context.Service<
  Secrets,
  {
    /** Gives back `previous` when it already seals the same text. */
    readonly seal: (plain: string, previous: string | null) => string
    /** Dies on text that this key did not seal. */
    readonly open: (sealed: string) => Redacted.Redacted<string>
    /** 32 bytes that only this installation knows, different for each purpose. */
    readonly derive: (purpose: string) => Redacted.Redacted<Uint8Array>
  }
>()("@parley/workspace/Secrets") {
  static readonly layer = (
    given: Redacted.Redacted<string> | undefined
  ): Layer.Layer<Secrets, StartFault, Database | DataFolder | SqlClient.SqlClient> =>
    Layer.effect(
      Secrets,
      Effect.gen(function* () {
        yield* Database
        const folder = yield* DataFolder
        const secrets = make(given === undefined ? yield* keyFile(folder.path) : expand(Redacted.value(given)))
        yield* prove(secrets)
        return secrets
      })
    )
}

/** @param master 32 bytes */
export const make = (master: Buffer): Secrets["Service"] => {
  const key = Buffer.from(hkdfSync("sha256", master, "", "parley/secrets", 32))
  const open = (sealed: string): string => {
    const bytes = Buffer.from(sealed.slice(3), "base64url")
    const decipher = createDecipheriv("aes-256-gcm", key, bytes.subarray(0, 12))
    decipher.setAuthTag(bytes.subarray(12, 28))
    return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString()
  }
  return {
    seal: (plain, previous) => {
      if (previous !== null && open(previous) === plain) return previous
      const nonce = randomBytes(12)
      const cipher = createCipheriv("aes-256-gcm", key, nonce)
      const body = Buffer.concat([cipher.update(plain, "utf8"), cipher.final()])
      return `v1.${Buffer.concat([nonce, cipher.getAuthTag(), body]).toString("base64url")}`
    },
    open: (sealed) => Redacted.make(open(sealed)),
    derive: (purpose) => Redacted.make(new Uint8Array(hkdfSync("sha256", master, "", `parley/${purpose}`, 32)))
  }
}

/** The database remembers something only the right key opens. */
const prove = Effect.fnUntraced(function* (secrets: Secrets["Service"]) {
  const sql = yield* SqlClient.SqlClient
  const mark = secrets.seal("parley", null)
  yield* sql`INSERT INTO settings (name, value) VALUES ('secret_proof', ${mark}) ON CONFLICT DO NOTHING`.pipe(
    Effect.orDie
  )
  const rows = yield* settingRows(sql`SELECT value FROM settings WHERE name = 'secret_proof'`).pipe(Effect.orDie)
  yield* Effect.try({
    try: () => secrets.open(rows[0]?.value ?? ""),
    catch: () =>
      new StartFault({
        message:
          "The secrets in the database were sealed with another key; set PARLEY_SECRET_KEY to that key, or restore secret-key in the data folder"
      })
  })
})

const settingRows = rowsOf("settings", Schema.Struct({ value: Schema.String }))
