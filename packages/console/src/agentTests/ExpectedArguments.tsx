// Arguments a tool must be called with, as JSON; text that is no object yet is kept here and told.
import type { Expectation } from "@parley/contract/AgentTest"
import { useState } from "preact/hooks"

type Arguments = NonNullable<Extract<Expectation, { readonly type: "tool_called" }>["arguments"]>

interface Props {
  readonly given: Arguments
  readonly onChange: (args: Arguments) => void
}

/** Edits the expected arguments; `onChange` gets valid ones only. */
export const ExpectedArguments = ({ given, onChange }: Props) => {
  const [text, setText] = useState(Object.keys(given).length === 0 ? "" : JSON.stringify(given))
  const read = argumentsOf(text)
  return (
    <>
      <input
        aria-label="Arguments as JSON"
        placeholder={'{"day": "Friday"}, or nothing for any arguments'}
        aria-invalid={read === undefined}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          const args = argumentsOf(event.currentTarget.value)
          if (args !== undefined) onChange(args)
        }}
      />
      {read === undefined && <p class="hint">Not a JSON object of plain values; the previous value is kept.</p>}
    </>
  )
}

const argumentsOf = (text: string): Arguments | undefined => {
  if (text.trim() === "") return {}
  try {
    const value: unknown = JSON.parse(text)
    return isArguments(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isArguments = (value: unknown): value is Arguments =>
  typeof value === "object" &&
  value !== null &&
  !Array.isArray(value) &&
  Object.values(value).every((one) => one === null || ["string", "number", "boolean"].includes(typeof one))
