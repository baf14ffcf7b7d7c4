// AAC through an ffmpeg of the system, as a child process that lives as long as its scope. It is told the demuxer and
// may open nothing but local files, so that no play list and no address inside an upload is followed, and runs as nobody where
// the service is root. The upload is its standard input: the folders above are closed to that user.
import { spawn } from "node:child_process"
import type { ChildProcessByStdio } from "node:child_process"
import { closeSync, fchownSync, openSync } from "node:fs"
import type { Readable } from "node:stream"
import { Effect } from "effect"
import type { Scope } from "effect"
import { childEnvironment } from "../workers/childEnvironment.ts"
import { unprivileged } from "../workers/childProcess.ts"
import { AudioFault } from "./AudioFault.ts"

/** One decoding. */
export interface FfmpegOptions {
  readonly command: string
  readonly file: string
  readonly container: "mp4" | "aac"
  readonly sampleRate: number
  /** A little more than this is decoded, so that a longer file is seen to be too long. */
  readonly mostMs: number
  /** Longest without a sign of life. */
  readonly stallMs: number
}

/**
 * Each run gives the next block, mono, of at most a second; the child waits while nobody asks. Fails with
 * `Unsupported` when there is no ffmpeg, with `Damaged` when it stalls.
 */
export const openFfmpeg = (
  options: FfmpegOptions
): Effect.Effect<
  Effect.Effect<{ readonly samples: Int16Array; readonly isLast: boolean }, AudioFault>,
  AudioFault,
  Scope.Scope
> =>
  Effect.map(Effect.acquireRelease(start(options), stop), (child) => {
    const blocks = blocksOf(child.stdout, options.sampleRate)
    return Effect.tryPromise({ try: () => blocks.next(), catch: () => stalled }).pipe(
      Effect.timeoutOrElse({ duration: options.stallMs, orElse: () => Effect.fail(stalled) }),
      Effect.map((step) => ({
        samples: step.done === true ? new Int16Array(0) : step.value,
        isLast: step.done === true
      }))
    )
  })

type Child = ChildProcessByStdio<null, Readable, null>

const start = (options: FfmpegOptions): Effect.Effect<Child, AudioFault> =>
  Effect.callback((resume) => {
    let upload: number
    try {
      upload = openSync(options.file, "r")
    } catch {
      return resume(Effect.fail(stalled))
    }
    const child = spawn(options.command, argumentsOf(options), {
      stdio: [upload, "pipe", "ignore"],
      env: childEnvironment(),
      ...asNobody(upload)
      // Its types know no descriptor of a file among the streams.
    }) as Child
    closeSync(upload)
    child.once("spawn", () => resume(Effect.succeed(child)))
    // Later ones, such as a kill that comes too late, are of no interest.
    child.on("error", () => resume(Effect.fail(missing)))
  })

/** A decoder of untrusted files has no rights of root; the upload becomes its own, so that it may read it. */
const asNobody = (upload: number): { readonly uid?: number; readonly gid?: number } => {
  if (process.getuid?.() !== 0) return {}
  fchownSync(upload, unprivileged.uid, unprivileged.gid)
  return unprivileged
}

const argumentsOf = (options: FfmpegOptions): ReadonlyArray<string> =>
  [
    ["-nostdin", "-v", "quiet", "-threads", "1", "-protocol_whitelist", "file"],
    ["-f", options.container === "mp4" ? "mov" : "aac", "-i", "file:/dev/stdin"],
    ["-map", "0:a:0", "-t", String(options.mostMs / 1000 + 1)],
    ["-f", "s16le", "-ac", "1", "-ar", String(options.sampleRate), "pipe:1"]
  ].flat()

const stop = (child: Child): Effect.Effect<void> =>
  Effect.callback((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("exit", () => resume(Effect.void))
    child.stdout.destroy()
    child.kill("SIGKILL")
  })

async function* blocksOf(stdout: Readable, sampleRate: number): AsyncGenerator<Int16Array, void> {
  const mostBytes = 2 * sampleRate
  let odd = Buffer.alloc(0)
  for await (const chunk of stdout) {
    const all = Buffer.concat([odd, chunk])
    const whole = all.length - (all.length % 2)
    odd = Buffer.from(all.subarray(whole))
    for (let at = 0; at < whole; at += mostBytes) {
      const bytes = all.subarray(at, Math.min(whole, at + mostBytes))
      yield Int16Array.from({ length: bytes.length / 2 }, (_, n) => bytes.readInt16LE(2 * n))
    }
  }
}

const missing = new AudioFault({
  reason: "Unsupported",
  message: "M4A and AAC recordings need ffmpeg on the server; send WAV, MP3, FLAC, Ogg or WebM instead"
})

const stalled = new AudioFault({ reason: "Damaged", message: "the recording cannot be decoded" })
