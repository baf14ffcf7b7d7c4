// Secrets at rest: AES-256-GCM with one master key, from PARLEY_SECRET_KEY or a generated file that only the owner
// reads; former keys open what is not sealed again yet. Keys for other purposes are derived (HKDF-SHA256, RFC 5869), never
// stored. A key that does not fit the database stops the start.
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Database, DataFolder } from "./Database.ts"
import { expand, keyFile } from "./masterKey.ts"
import { makeSecretBox, type SecretBox } from "./SecretBox.ts"
import { secretOwner } from "./SecretOwner.ts"
import { StartFault } from "./StartFault.ts"
import { exists, rowsOf } from "./rows.ts"

/** Sealing and opening of secrets. */
export class Secrets extends Context.Service<Secrets, SecretBox>()("@parley/workspace/Secrets") {
  static readonly layer = (
    given: Redacted.Redacted<string> | undefined,
    former: ReadonlyArray<Redacted.Redacted<string>> = []
  ): Layer.Layer<Secrets, StartFault, Database | DataFolder | SqlClient.SqlClient> =>
    Layer.effect(
      Secrets,
      Effect.gen(function* () {
        yield* Database
        const folder = yield* DataFolder
        const secrets = makeSecretBox(
          given === undefined ? yield* keyFile(folder.path) : expand(Redacted.value(given)),
          { masters: former.map((key) => expand(Redacted.value(key))), unbound: yield* isUnbound }
        )
        yield* prove(secrets)
        return secrets
      })
    )
}

/** The owner of the value that proves the key. */
export const secretProof = secretOwner.setting("secret_proof")

/** Whether values without an owner may still be in the database; from the start after `allBound` on, none opens. */
export const isUnbound: Effect.Effect<boolean, never, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return !(yield* Effect.orDie(exists(sql`SELECT 1 FROM settings WHERE name = 'secrets_bound'`)))
})

/** Every value was found to have its owner. */
export const allBound: Effect.Effect<void, never, SqlClient.SqlClient> = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`INSERT INTO settings (name, value) VALUES ('secrets_bound', 'yes') ON CONFLICT DO NOTHING`)
})

/** The database remembers something only the right key opens. */
const prove = Effect.fnUntraced(function* (secrets: Secrets["Service"]) {
  const sql = yield* SqlClient.SqlClient
  const mark = secrets.of(secretProof).seal("parley", null)
  yield* sql`INSERT INTO settings (name, value) VALUES ('secret_proof', ${mark}) ON CONFLICT DO NOTHING`.pipe(
    Effect.orDie
  )
  const rows = yield* settingRows(sql`SELECT value FROM settings WHERE name = 'secret_proof'`).pipe(Effect.orDie)
  yield* Effect.try({
    try: () => secrets.of(secretProof).open(rows[0]?.value ?? ""),
    catch: () =>
      new StartFault({
        message:
          "The secrets in the database were sealed with another key; set PARLEY_SECRET_KEY to that key, name it in PARLEY_SECRET_KEY_OLD beside a new one, or restore secret-key in the data folder"
      })
  })
})

const settingRows = rowsOf("settings", Schema.Struct({ value: Schema.String }))
