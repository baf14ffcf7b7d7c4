// What a running service holds open, looked up in /proc.
import { findPostgres } from "@parley/workspace/storage/EmbeddedPostgres"
import { Redacted } from "effect"
import { readdirSync, readFileSync, readlinkSync } from "node:fs"
import type { RunningService } from "../../../src/testing/RunningService.ts"

/**
 * Number of open descriptors, without the connections to the database: the pool opens up to ten of them when it is
 * busy and closes them when they have been idle, which says nothing of the callers.
 */
export const openDescriptors = ({ data, process: { pid } }: RunningService): number => {
  const pool = databaseSockets(data)
  return readdirSync(`/proc/${pid}/fd`).filter((name) => !pool.has(targetOf(`/proc/${pid}/fd/${name}`))).length
}

/** Targets of descriptors that lead to the embedded database of this folder. */
const databaseSockets = (data: string): ReadonlySet<string> => {
  const url = findPostgres(data)
  if (url === undefined) throw new Error(`no database runs in ${data}`)
  const port = Number(new URL(Redacted.value(url)).port)
  // Columns: number, local and remote address in hexadecimal, ..., the socket's number as the tenth.
  const rows = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1)
  const connections = rows.map((row) => row.trim().split(/\s+/))
  return new Set(
    connections.flatMap(([, , remote = "", ...rest]) =>
      Number.parseInt(remote.split(":")[1] ?? "", 16) === port ? [`socket:[${rest[6]}]`] : []
    )
  )
}

const targetOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    // Closed since it was listed.
    return ""
  }
}
