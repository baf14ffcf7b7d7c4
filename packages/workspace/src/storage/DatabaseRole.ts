// Under which role the service works on its embedded PostgreSQL: the owner of its tables and nothing more. The superuser that
// made the cluster is used at the start, to give the role what it owns; files and programs of the server are out of reach of
// whatever the service sends later.
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomBytes } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StartFault } from "./StartFault.ts"

const role = "parley_service"

/** The address for the service. `administrator`: the superuser's. Data of a service that worked as superuser is taken over. */
export const serviceAddress = (
  data: string,
  administrator: Redacted.Redacted<string>
): Effect.Effect<Redacted.Redacted<string>, StartFault> =>
  Effect.gen(function* () {
    const password = passwordIn(data)
    const sql = yield* PgClient.makeClient({ url: administrator })
    yield* sql.withTransaction(
      Effect.forEach(statements(password), (statement) => sql.unsafe(statement), { discard: true })
    )
    return addressOf(administrator, password)
  }).pipe(
    Effect.scoped,
    Effect.provide(Reactivity.layer),
    Effect.mapError(() => new StartFault({ message: "The embedded PostgreSQL did not take the service's role" }))
  )

/** The same for a command beside a service that runs. */
export const runningServiceAddress = (
  data: string,
  administrator: Redacted.Redacted<string>
): Redacted.Redacted<string> => addressOf(administrator, passwordIn(data))

const passwordIn = (data: string): string => {
  const file = join(data, "database-password")
  if (!existsSync(file)) writeFileSync(file, randomBytes(24).toString("base64url"), { mode: 0o600 })
  return readFileSync(file, "utf8").trim()
}

const addressOf = (administrator: Redacted.Redacted<string>, password: string): Redacted.Redacted<string> => {
  const url = new URL(Redacted.value(administrator))
  url.username = role
  url.password = password
  return Redacted.make(url.href)
}

/** `password`: of base64url, which needs no quoting. */
const statements = (password: string): ReadonlyArray<string> => [
  `DO $$ BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${role}') THEN CREATE ROLE ${role} LOGIN; END IF;
  END $$`,
  `ALTER ROLE ${role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD '${password}'`,
  `GRANT CONNECT, CREATE, TEMPORARY ON DATABASE postgres TO ${role}`,
  `ALTER SCHEMA public OWNER TO ${role}`,
  // Sequences of columns follow their tables.
  `DO $$ DECLARE item record; BEGIN
    FOR item IN SELECT c.relname FROM pg_class c
      WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'S')
        AND c.relowner <> '${role}'::regrole
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype IN ('a', 'i', 'e'))
    LOOP EXECUTE format('ALTER TABLE public.%I OWNER TO ${role}', item.relname); END LOOP;
    FOR item IN SELECT p.oid::regprocedure AS name FROM pg_proc p
      WHERE p.pronamespace = 'public'::regnamespace AND p.proowner <> '${role}'::regrole
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
    LOOP EXECUTE format('ALTER ROUTINE %s OWNER TO ${role}', item.name); END LOOP;
    FOR item IN SELECT t.typname FROM pg_type t
      WHERE t.typnamespace = 'public'::regnamespace AND t.typowner <> '${role}'::regrole AND t.typtype IN ('e', 'd')
        AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = t.oid AND d.deptype = 'e')
    LOOP EXECUTE format('ALTER TYPE public.%I OWNER TO ${role}', item.typname); END LOOP;
  END $$`
]
