// One recogniser process seen from the server: started in a scope, dead when the scope closes. Its exit is
// told once to whoever listens.
import { fork } from "node:child_process"
import type { ChildProcess } from "node:child_process"
import { Effect } from "effect"
import type { Scope } from "effect"
import { SpeechError } from "../ports/SpeechError.ts"
import type { FromRecogniser, ToRecogniser } from "./PocketSphinxMessage.ts"
import type { PocketSphinxInstallation } from "./PocketSphinxInstallation.ts"

export interface RecogniserProcess {
  readonly pid: number
  readonly alive: () => boolean
  /** For a process that stopped answering. */
  readonly kill: () => void
  readonly tell: (message: ToRecogniser) => void
  /** One listener at a time; returns how to stop listening. */
  readonly listen: (listener: RecogniserListener) => () => void
}

export interface RecogniserListener {
  readonly onMessage: (message: FromRecogniser) => void
  readonly onExit: () => void
}

export interface RecogniserProgram {
  /** The child's file; tests put in one that misbehaves. */
  readonly file: URL
  readonly installation: PocketSphinxInstallation
  /** Longest time to load the model. */
  readonly startMs: number
}

/** Succeeds when the model is loaded. */
export const startRecogniser = (
  program: RecogniserProgram
): Effect.Effect<RecogniserProcess, SpeechError, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => spawn(program)),
    // SIGKILL: the library may be deep in a search, and there is nothing to save.
    (child) => Effect.sync(() => child.kill("SIGKILL"))
  ).pipe(
    Effect.map(processOf),
    Effect.tap((recogniser) =>
      Effect.callback<void, SpeechError>((resume) => {
        const stop = recogniser.listen({
          onMessage: (message) => {
            if (message._tag === "Ready") resume(Effect.void)
          },
          onExit: () => resume(Effect.fail(failure("Unavailable", "the recogniser process did not start")))
        })
        return Effect.sync(stop)
      }).pipe(
        Effect.timeoutOrElse({
          duration: program.startMs,
          orElse: () => Effect.fail(failure("Timeout", "the recogniser process did not become ready"))
        })
      )
    )
  )

const spawn = (program: RecogniserProgram): ChildProcess =>
  fork(program.file, [JSON.stringify(program.installation)], {
    serialization: "advanced",
    execArgv: [],
    stdio: ["ignore", "ignore", "ignore", "ipc"]
  })

const processOf = (child: ChildProcess): RecogniserProcess => {
  let listener: RecogniserListener | undefined
  let gone = false
  const leave = () => {
    if (gone) return
    gone = true
    listener?.onExit()
  }
  child.on("message", (message: FromRecogniser) => listener?.onMessage(message))
  child.on("error", leave)
  child.on("exit", leave)
  return {
    pid: child.pid ?? 0,
    alive: () => !gone,
    kill: () => {
      leave()
      child.kill("SIGKILL")
    },
    tell: (message) => {
      // The callback takes a write to a process that has just died.
      if (!gone && child.connected) child.send(message, () => {})
    },
    listen: (next) => {
      listener = next
      if (gone) next.onExit()
      return () => {
        if (listener === next) listener = undefined
      }
    }
  }
}

const failure = (reason: "Unavailable" | "Timeout", message: string): SpeechError =>
  new SpeechError({ reason, provider: "pocketsphinx", message })
