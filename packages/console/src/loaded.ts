// A value that is read from the service when a view opens, and again on request.
import { useEffect, useState } from "preact/hooks"
import { formatError } from "./format.ts"

/** A value of the service, as far as it is known. */
export interface Loaded<A> {
  /** Null until it is there; kept while it is read again. */
  readonly value: A | null
  /** Empty while all is well. */
  readonly problem: string
  readonly reload: () => Promise<void>
}

/** Reads the value when the component appears, and again whenever one of the keys changes. */
export const useLoaded = <A>(load: () => Promise<A>, keys: ReadonlyArray<unknown>): Loaded<A> => {
  const [value, setValue] = useState<A | null>(null)
  const [problem, setProblem] = useState("")
  const reload = async (): Promise<void> => {
    try {
      setValue(await load())
      setProblem("")
    } catch (error) {
      setProblem(formatError(error))
    }
  }
  useEffect(() => {
    let current = true
    load().then(
      (found) => {
        if (!current) return
        setValue(found)
        setProblem("")
      },
      (error: unknown) => current && setProblem(formatError(error))
    )
    return () => {
      current = false
    }
  }, [...keys])
  return { value, problem, reload }
}
