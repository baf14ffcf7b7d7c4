// The environment of threads and child processes: what programs need to run, and none of the service's settings, which hold its
// keys.

const kept = [
  "PATH",
  "LANG",
  "LC_ALL",
  "TZ",
  "TMPDIR",
  "LD_LIBRARY_PATH",
  "NODE_COMPILE_CACHE",
  "ORT_DISABLE_TELEMETRY"
]

/** Of this process, what is no secret. */
export const childEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    kept.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value] as const]
    })
  )
