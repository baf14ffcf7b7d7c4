// A request that a person starts, such as saving: its outcome is a message or a problem.
import { useState } from "preact/hooks"
import { formatError } from "./format.ts"

/** The outcome of the last request, and a way to start the next one. */
export interface Action {
  /** What the request returned; empty while it runs or after a failure. */
  readonly message: string
  /** Why it failed; empty while all is well. */
  readonly problem: string
  /** Runs the request and shows the message it returns, or why it failed. Never rejects. */
  readonly act: (request: () => Promise<string>) => Promise<void>
}

/** One outcome for all the requests of a component: each replaces the one before. */
export const useAction = (): Action => {
  const [message, setMessage] = useState("")
  const [problem, setProblem] = useState("")
  return {
    message,
    problem,
    act: async (request) => {
      setMessage("")
      setProblem("")
      try {
        setMessage(await request())
      } catch (error) {
        setProblem(formatError(error))
      }
    }
  }
}
