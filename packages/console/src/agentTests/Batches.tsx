// What came of running an agent's tests: the batches that were, and the runs of the one that is open. Asked again while
// it is running.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { TestBatch, TestRunSummary } from "@parley/contract/AgentTest"
import { useEffect, useState } from "preact/hooks"
import { inWords, timeInWords } from "../inWords.ts"
import { useLoaded } from "../loaded.ts"
import { Said } from "../Said.tsx"
import { RunView } from "./RunView.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agentId: string
  /** The batch that was begun here last; empty for none. */
  readonly begun: string
}

export const Batches = ({ agentId, begun, client }: Props) => {
  const { problem, value } = useLoaded(() => client.office.tests.batches(agentId, { page_size: 20 }), [begun])
  const [chosen, setChosen] = useState("")
  useEffect(() => setChosen(begun), [begun])
  const batches = value?.test_batches ?? []
  const open = chosen === "" ? batches[0]?.batch_id : chosen
  return (
    <>
      <Said problem={problem} />
      {batches.length > 0 && (
        <>
          <label for="batch">Results of</label>
          <select id="batch" value={open} onChange={(event) => setChosen(event.currentTarget.value)}>
            {batches.map((batch) => (
              <option key={batch.batch_id} value={batch.batch_id}>
                {timeInWords(batch.created_at)}
              </option>
            ))}
          </select>
        </>
      )}
      {open !== undefined && <BatchView key={open} client={client} agentId={agentId} id={open} />}
    </>
  )
}

interface BatchProps {
  readonly client: ParleyClient
  readonly agentId: string
  readonly id: string
}

const BatchView = ({ agentId, client, id }: BatchProps) => {
  const [batch, setBatch] = useState<TestBatch | null>(null)
  const [problem, setProblem] = useState("")
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined
    const left = new AbortController()
    const look = async (): Promise<void> => {
      const found = await client.office.tests.batch(agentId, id).catch((error: unknown) => inWords(error))
      if (left.signal.aborted) return
      if (typeof found === "string") setProblem(found)
      else {
        setProblem("")
        setBatch(found)
      }
      if (typeof found === "string" || found.status === "running") timer = setTimeout(() => void look(), lookEveryMs)
    }
    void look()
    return () => {
      left.abort()
      clearTimeout(timer)
    }
  }, [])
  if (batch === null) return <Said problem={problem} />
  return (
    <section aria-label="Results">
      <Said problem={problem} />
      <p role="status">{sumOf(batch)}</p>
      {batch.test_runs.map((run) => (
        <Run key={run.run_id} client={client} run={run} />
      ))}
    </section>
  )
}

const Run = ({ client, run }: { readonly client: ParleyClient; readonly run: TestRunSummary }) => {
  const [open, setOpen] = useState(false)
  return (
    <details class="run" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {run.test_name} <span class={`badge ${run.status}`}>{run.status}</span>
      </summary>
      {run.error !== null && <p class="problem">There is no verdict: {run.error}.</p>}
      {open && run.finished_at !== null && <RunView client={client} id={run.run_id} />}
    </details>
  )
}

const sumOf = ({ errors, failed, passed, status, total }: TestBatch): string =>
  [
    `${passed} of ${total} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(errors > 0 ? [`${errors} without a verdict`] : []),
    ...(status === "running" ? ["still running ..."] : [])
  ].join(", ")

const lookEveryMs = 1000
