// Something that is read from the service when a view opens, and again when asked.
import { useEffect, useState } from "preact/hooks"
import { inWords } from "./inWords.ts"

export interface Loaded<A> {
  /** Null until it is there; kept while it is read again. */
  readonly value: A | null
  /** Empty while all is well. */
  readonly problem: string
  readonly reload: () => Promise<void>
}

/** Read anew whenever one of the keys changes. */
export const useLoaded = <A>(load: () => Promise<A>, keys: ReadonlyArray<unknown>): Loaded<A> => {
  const [value, setValue] = useState<A | null>(null)
  const [problem, setProblem] = useState("")
  const reload = async (): Promise<void> => {
    try {
      setValue(await load())
      setProblem("")
    } catch (error) {
      setProblem(inWords(error))
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
      (error: unknown) => current && setProblem(inWords(error))
    )
    return () => {
      current = false
    }
  }, [...keys])
  return { value, problem, reload }
}

export interface Doing {
  readonly said: string
  readonly problem: string
  /** Runs it and says what it gives back, or what went wrong. */
  readonly act: (what: () => Promise<string>) => Promise<void>
}

export const useDoing = (): Doing => {
  const [said, setSaid] = useState("")
  const [problem, setProblem] = useState("")
  return {
    said,
    problem,
    act: async (what) => {
      setSaid("")
      setProblem("")
      try {
        setSaid(await what())
      } catch (error) {
        setProblem(inWords(error))
      }
    }
  }
}
