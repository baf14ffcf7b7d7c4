// One service per data folder. The lock is a file naming its holder (process id and birth); a dead holder's lock is
// taken over. Creation is by link(2), so a half-written lock is never seen. Two that find the same dead holder's
// lock both replace it, and the one whose content stands a moment later has it.
import { Effect, type Scope } from "effect"
import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { birthOf } from "./ProcessProbe.ts"
import { StartFault } from "./StartFault.ts"

interface Holder {
  readonly pid: number
  readonly birth: string
}

/** Held until the scope closes. Fails when a living process holds it. */
export const lockFolder = (folder: string): Effect.Effect<void, StartFault, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.gen(function* () {
        const path = join(folder, "lock")
        const mine: Holder = { pid: process.pid, birth: birthOf(process.pid) ?? "" }
        if (create(path, mine)) return { path, mine }
        const holder = read(path)
        if (holder !== undefined && isLiving(holder)) return yield* refused(folder, holder)
        replace(path, mine)
        yield* Effect.sleep("50 millis")
        const now = read(path)
        if (now?.pid !== mine.pid || now.birth !== mine.birth) return yield* refused(folder, now)
        return { path, mine }
      }),
      ({ mine, path }) =>
        Effect.sync(() => {
          const now = read(path)
          if (now?.pid === mine.pid && now.birth === mine.birth) rmSync(path, { force: true })
        })
    )
  )

/** Whether a living service holds the folder. */
export const isFolderHeld = (folder: string): boolean => {
  const holder = read(join(folder, "lock"))
  return holder !== undefined && isLiving(holder)
}

const refused = (folder: string, holder: Holder | undefined) =>
  new StartFault({
    message: `Another Parley service (process ${holder?.pid ?? "unknown"}) is using the data folder ${folder}; stop it, or set PARLEY_DATA to another folder`
  })

const isLiving = (holder: Holder): boolean => holder.pid !== process.pid && birthOf(holder.pid) === holder.birth

const read = (path: string): Holder | undefined => {
  try {
    const holder: unknown = JSON.parse(readFileSync(path, "utf8"))
    if (typeof holder !== "object" || holder === null || !("pid" in holder) || !("birth" in holder)) return undefined
    return typeof holder.pid === "number" && typeof holder.birth === "string"
      ? { pid: holder.pid, birth: holder.birth }
      : undefined
  } catch {
    return undefined
  }
}

const draft = (path: string, mine: Holder): string => {
  const temporary = `${path}.${mine.pid}`
  writeFileSync(temporary, JSON.stringify(mine), { mode: 0o600 })
  return temporary
}

const create = (path: string, mine: Holder): boolean => {
  const temporary = draft(path, mine)
  try {
    linkSync(temporary, path)
    return true
  } catch {
    return false
  } finally {
    rmSync(temporary, { force: true })
  }
}

const replace = (path: string, mine: Holder): void => renameSync(draft(path, mine), path)
