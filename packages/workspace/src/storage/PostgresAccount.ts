// Under which user PostgreSQL runs. It refuses to run as root, so a root service hands it to the owner of the
// cluster, else to `postgres` or `nobody`. A home such as /root (0700) is closed to that user: then the process
// keeps the one right to look into folders (CAP_DAC_READ_SEARCH, by util-linux' setpriv), and no way to get another. It
// sees nothing of the service's environment, which holds its keys.
import { Effect } from "effect"
import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process"
import { chownSync, existsSync, readFileSync, statSync } from "node:fs"
import { dirname } from "node:path"
import { StartFault } from "./StartFault.ts"

/** Runs programs and owns files as the user of PostgreSQL. */
export interface PostgresAccount {
  readonly run: (command: string, args: ReadonlyArray<string>, options: SpawnOptions) => ChildProcess
  /** Make the path belong to the account. */
  readonly own: (path: string) => void
}

/** @param paths the cluster's folder and the programs, all of which the account must reach. */
export const accountFor = (cluster: string, paths: ReadonlyArray<string>): Effect.Effect<PostgresAccount, StartFault> =>
  Effect.gen(function* () {
    if (process.getuid?.() !== 0) {
      return { run: (command, args, options) => spawn(command, args, { ...options, env }), own: () => undefined }
    }
    const user = ownerOf(cluster) ?? userNamed("postgres") ?? userNamed("nobody")
    if (user === undefined) {
      return yield* new StartFault({
        message:
          "PostgreSQL cannot run as root and there is no user postgres or nobody; create one, or set DATABASE_URL"
      })
    }
    const own = (path: string) => chownSync(path, user.uid, user.gid)
    if ([cluster, ...paths].every((path) => canReach(path, user.uid))) {
      return {
        run: (command, args, options) => spawn(command, args, { ...options, env, uid: user.uid, gid: user.gid }),
        own
      }
    }
    if (!existsSync("/usr/bin/setpriv")) {
      return yield* new StartFault({
        message: `PostgreSQL cannot run as root, and its user cannot reach ${cluster}; set PARLEY_DATA to a folder it can reach, or set DATABASE_URL`
      })
    }
    const prefix = [
      `--reuid=${user.uid}`,
      `--regid=${user.gid}`,
      "--clear-groups",
      "--no-new-privs",
      "--inh-caps=-all,+dac_read_search",
      "--bounding-set=-all,+dac_read_search"
    ]
    return {
      run: (command, args, options) =>
        spawn("/usr/bin/setpriv", [...prefix, "--ambient-caps=+dac_read_search", command, ...args], {
          ...options,
          env
        }),
      own
    }
  })

/** What PostgreSQL needs of an environment. */
const env = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" }

interface User {
  readonly uid: number
  readonly gid: number
}

const ownerOf = (path: string): User | undefined => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined || stat.uid === 0 ? undefined : { uid: stat.uid, gid: stat.gid }
}

const userNamed = (name: string): User | undefined => {
  try {
    const line = readFileSync("/etc/passwd", "utf8")
      .split("\n")
      .find((entry) => entry.startsWith(`${name}:`))
    const [, , uid, gid] = line?.split(":") ?? []
    return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) }
  } catch {
    return undefined
  }
}

const canReach = (path: string, uid: number): boolean => {
  for (let folder = dirname(path); ; folder = dirname(folder)) {
    const stat = statSync(folder, { throwIfNoEntry: false })
    if (stat !== undefined && stat.uid !== uid && (stat.mode & 0o001) === 0) return false
    if (folder === dirname(folder)) return true
  }
}
