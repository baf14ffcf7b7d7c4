// Whether a conversation is as a test expects, and why. Pure. Criteria are put to a language model by others.
import type { Analysis } from "@parley/contract/AgentConfig/Analysis"
import type { Expectation, ExpectationResult } from "@parley/contract/AgentTest"

/** What a run of a test came to. */
export interface Observed {
  /** What the agent said, in order. */
  readonly replies: ReadonlyArray<string>
  readonly calls: ReadonlyArray<{
    /** The tool's name and its function's. */
    readonly names: ReadonlyArray<string>
    /** As the model wrote it. */
    readonly input: string
  }>
}

/** An expectation that a language model decides. */
export type Criterion = Extract<Expectation, { type: "criterion" }>

/** Whether one expectation holds, and why, in plain words. */
export const checkExpectation = (
  expectation: Exclude<Expectation, Criterion>,
  { calls, replies }: Observed
): ExpectationResult => {
  switch (expectation.type) {
    case "reply_contains":
    case "reply_not_contains": {
      const at = replies.findIndex((reply) => plain(reply).includes(plain(expectation.text)))
      const reason = at < 0 ? "no reply contains it" : `reply ${at + 1} contains it`
      return { expectation, passed: at >= 0 === (expectation.type === "reply_contains"), reason }
    }
    case "tool_not_called": {
      const called = callsOf(expectation.tool_name, calls)
      return { expectation, passed: called.length === 0, reason: timesCalled(called.length) }
    }
    case "tool_called": {
      const called = callsOf(expectation.tool_name, calls)
      const wanted = Object.entries(expectation.arguments ?? {})
      const passed = called.some(({ input }) =>
        wanted.every(([name, value]) => isSame(argumentsOf(input)[name], value))
      )
      const reason = `${timesCalled(called.length)}${called.length > 0 && !passed ? ", never with these arguments" : ""}`
      return { expectation, passed, reason }
    }
  }
}

/** What is asked of the analyst for these. */
export const questionsOf = (criteria: ReadonlyArray<Criterion>): Analysis => ({
  summary: { enabled: false, prompt: "", language: "en" },
  data_fields: [],
  criteria: criteria.map(({ description }, index) => ({ name: `criterion_${index + 1}`, description }))
})

const callsOf = (name: string, calls: Observed["calls"]): Observed["calls"] =>
  calls.filter(({ names }) => names.includes(name))

const timesCalled = (times: number): string =>
  times === 0 ? "it was not called" : times === 1 ? "it was called once" : `it was called ${times} times`

const plain = (text: string): string => text.normalize("NFKC").toLowerCase().replace(/\s+/g, " ").trim()

/** Models write 3 as well as "3". */
const isSame = (given: unknown, wanted: unknown): boolean =>
  given !== undefined && typeof given !== "object" ? plain(String(given)) === plain(String(wanted)) : given === wanted

const argumentsOf = (input: string): Readonly<Record<string, unknown>> => {
  try {
    const value: unknown = JSON.parse(input)
    return typeof value === "object" && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
