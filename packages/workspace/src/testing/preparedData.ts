// One data folder for a whole test run whose PostgreSQL is made and migrated: services that tests start in processes of
// their own begin with a copy of it, which takes a tenth of the time of making theirs.
import { Effect, Layer } from "effect"
import { execFileSync } from "node:child_process"
import { chmodSync, existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DataFolder, layer as database } from "../storage/Database.ts"

/** Where the folder is, in the environment. */
const preparedFolder = "PARLEY_TESTS_DATA"

/** For vitest's `globalSetup`; returns its tear-down. */
export default async function setup(): Promise<() => void> {
  if (process.env[preparedFolder] !== undefined) return () => undefined
  const data = mkdtempSync(join(tmpdir(), "parley-prepared-"))
  chmodSync(data, 0o711)
  const settings = { data, databaseUrl: undefined }
  const storage = database(settings).pipe(Layer.provideMerge(DataFolder.layer(settings)))
  await Effect.runPromise(Effect.scoped(Layer.build(storage)))
  process.env[preparedFolder] = data
  return () => rmSync(data, { recursive: true, force: true })
}

/** Gives a new data folder the prepared PostgreSQL; leaves alone one that has its own, and all when none is prepared. */
export const copyPrepared = (data: string): void => {
  const prepared = process.env[preparedFolder]
  if (prepared === undefined || existsSync(join(data, "postgres"))) return
  // With its owner, who may be another user than ours.
  execFileSync("cp", ["-a", join(prepared, "postgres"), join(prepared, "postgres-password"), data])
}
