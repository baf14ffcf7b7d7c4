// One test: the turns of the caller, one per line, and the expectations.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { AgentTest, AgentTestCreate, Expectation } from "@parley/contract/AgentTest"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { Notice } from "../Notice.tsx"
import { changedKind, type ExpectationKind, kinds, textOf, withText } from "./expectation.ts"
import { ExpectedArguments } from "./ExpectedArguments.tsx"

interface Props {
  readonly client: ParleyClient
  /** Undefined for a new one. */
  readonly test: AgentTest | undefined
  /** With its id; empty when it was removed or nothing came of it. */
  readonly onDone: (id: string) => Promise<void>
}

/** Creates a test, or edits one. */
export const TestEditor = ({ client, onDone, test }: Props) => {
  const before = (test?.turns ?? []).join("\n")
  const [name, setName] = useState(test?.name ?? "")
  const [said, setSaid] = useState(before)
  const [expected, setExpected] = useState<ReadonlyArray<Expectation>>(
    test?.expectations ?? [{ type: "reply_contains", text: "" }]
  )
  const { act, problem } = useAction()

  const save = async (): Promise<string> => {
    const input: typeof AgentTestCreate.Encoded = { name, turns: linesOf(said), expectations: expected }
    // A turn may hold line breaks that cannot be seen here: what was not touched stays.
    const { turns, ...others } = input
    const saved =
      test === undefined
        ? await client.management.tests.create(input)
        : await client.management.tests.update(test.test_id, said === before ? others : { ...others, turns })
    await onDone(saved.test_id)
    return ""
  }
  const remove = async (): Promise<string> => {
    if (test !== undefined) await client.management.tests.remove(test.test_id)
    await onDone("")
    return ""
  }
  return (
    <article aria-label="Test">
      <label for="test-name">Name of the test</label>
      <input id="test-name" maxLength={120} value={name} onInput={(event) => setName(event.currentTarget.value)} />
      <label for="test-turns">Caller turns, one per line</label>
      <textarea
        id="test-turns"
        rows={4}
        placeholder={"Friday at ten, please\nMy name is Ada"}
        value={said}
        onInput={(event) => setSaid(event.currentTarget.value)}
      />
      <h3>Expected</h3>
      {expected.map((one, index) => (
        <div class="expectation" key={`${index} of ${expected.length}`}>
          <div class="row">
            <select
              aria-label="Expectation type"
              value={one.type}
              onChange={({ currentTarget: { value } }) => {
                const kind = kinds.find(([name]) => name === value)?.[0] ?? "reply_contains"
                setExpected(expected.with(index, changedKind(one, kind)))
              }}
            >
              {kinds.map(([kind, words]) => (
                <option key={kind} value={kind}>
                  {words}
                </option>
              ))}
            </select>
            <input
              aria-label="Expected"
              placeholder={placeholders[one.type]}
              value={textOf(one)}
              onInput={(event) => setExpected(expected.with(index, withText(one, event.currentTarget.value)))}
            />
            <button type="button" class="quiet" onClick={() => setExpected(expected.toSpliced(index, 1))}>
              Remove
            </button>
          </div>
          {one.type === "tool_called" && (
            <ExpectedArguments
              given={one.arguments ?? {}}
              onChange={(args) => {
                const { arguments: _, ...bare } = one
                const next = Object.keys(args).length === 0 ? bare : { ...bare, arguments: args }
                setExpected(expected.with(index, next))
              }}
            />
          )}
        </div>
      ))}
      <button type="button" onClick={() => setExpected([...expected, { type: "reply_contains", text: "" }])}>
        Add an expectation
      </button>
      <Notice problem={problem} />
      <div class="controls">
        <button type="button" class="primary" onClick={() => act(save)}>
          {test === undefined ? "Create the test" : "Save the test"}
        </button>
        {test === undefined ? (
          <button type="button" onClick={() => void onDone("")}>
            Cancel
          </button>
        ) : (
          <button type="button" onClick={() => act(remove)}>
            Remove the test
          </button>
        )}
      </div>
    </article>
  )
}

const placeholders: Readonly<Record<ExpectationKind, string>> = {
  reply_contains: "Friday at ten",
  reply_not_contains: "I cannot",
  tool_called: "Book a slot",
  tool_not_called: "Cancel a slot",
  criterion: "The agent repeats day and time before it books"
}

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
