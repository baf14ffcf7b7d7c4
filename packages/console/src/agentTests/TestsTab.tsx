// The tests of one agent: which of the workspace's tests are attached to it, the one that is edited, and the results.
// A run uses the draft as it was saved.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"
import { Batches } from "./Batches.tsx"
import { TestEditor } from "./TestEditor.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agent: Agent
  readonly unsaved: boolean
}

/** The tab of tests; `unsaved` warns that the draft has changes that a run does not see. */
export const TestsTab = ({ agent, client, unsaved }: Props) => {
  const id = agent.agent_id
  const { problem, reload, value } = useLoaded(
    () =>
      Promise.all([
        client.management.tests.list({ page_size: 100 }),
        client.management.tests.list({ page_size: 100, agent_id: id })
      ]),
    []
  )
  const [edited, setEdited] = useState("")
  const [begun, setBegun] = useState("")
  const action = useAction()
  const tests = value?.[0].tests ?? []
  const own = new Set((value?.[1].tests ?? []).map((test) => test.test_id))

  const attach = async (testId: string, on: boolean): Promise<string> => {
    await (on ? client.management.tests.attach(testId, id) : client.management.tests.detach(testId, id))
    await reload()
    return ""
  }
  const run = async (test_ids?: ReadonlyArray<string>): Promise<string> => {
    const batch = await client.management.tests.run(id, test_ids === undefined ? {} : { test_ids })
    setBegun(batch.batch_id)
    return ""
  }
  const saved = async (testId: string): Promise<void> => {
    if (edited === "new" && testId !== "") await client.management.tests.attach(testId, id)
    await reload()
    setEdited("")
  }
  return (
    <section aria-label="Tests">
      <p class="hint">
        A test sends a caller's turns one after the other to the draft and judges the replies. Tools answer with their
        mock responses.
      </p>
      {unsaved && <p class="problem">Unsaved changes are not tested.</p>}
      <div class="controls">
        <button type="button" onClick={() => setEdited("new")}>
          New test
        </button>
        <button type="button" class="primary" disabled={own.size === 0} onClick={() => action.act(() => run())}>
          Run attached tests
        </button>
      </div>
      <Notice message={action.message} problem={action.problem || problem} />
      {edited === "new" && <TestEditor client={client} test={undefined} onDone={saved} />}
      <ul class="cards" aria-label="All tests">
        {tests.map((test) => (
          <li key={test.test_id}>
            <div class="row">
              <label class="check">
                <input
                  type="checkbox"
                  checked={own.has(test.test_id)}
                  onChange={(event) => {
                    const on = event.currentTarget.checked
                    void action.act(() => attach(test.test_id, on))
                  }}
                />
                <span>
                  {test.name}
                  <small>
                    {count(test.turns.length, "turn")}, {count(test.expectations.length, "expectation")}
                  </small>
                </span>
              </label>
              <button
                type="button"
                aria-label={`Edit ${test.name}`}
                onClick={() => setEdited(edited === test.test_id ? "" : test.test_id)}
              >
                Edit
              </button>
              <button
                type="button"
                aria-label={`Run ${test.name}`}
                onClick={() => action.act(() => run([test.test_id]))}
              >
                Run
              </button>
            </div>
            {edited === test.test_id && <TestEditor key={test.test_id} client={client} test={test} onDone={saved} />}
          </li>
        ))}
      </ul>
      <Batches client={client} agentId={id} begun={begun} />
    </section>
  )
}

const count = (n: number, what: string): string => `${n} ${what}${n === 1 ? "" : "s"}`
