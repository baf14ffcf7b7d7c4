// The results of an agent's tests: a list of batches, and the runs of the selected one, read again while it is running.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { TestBatch, TestRunSummary } from "@parley/contract/AgentTest"
import { useEffect, useState } from "preact/hooks"
import { formatError, formatTime } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"
import { RunView } from "./RunView.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agentId: string
  /** The batch that was begun here last; empty for none. */
  readonly begun: string
}

/** The results of the test runs of an agent, batch by batch. */
export const Batches = ({ agentId, begun, client }: Props) => {
  const { problem, value } = useLoaded(() => client.management.tests.batches(agentId, { page_size: 20 }), [begun])
  const [chosen, setChosen] = useState("")
  useEffect(() => setChosen(begun), [begun])
  const batches = value?.test_batches ?? []
  const open = chosen === "" ? batches[0]?.batch_id : chosen
  return (
    <>
      <Notice problem={problem} />
      {batches.length > 0 && (
        <>
          <label for="batch">Results of</label>
          <select id="batch" value={open} onChange={(event) => setChosen(event.currentTarget.value)}>
            {batches.map((batch) => (
              <option key={batch.batch_id} value={batch.batch_id}>
                {formatTime(batch.created_at)}
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
    const read = async (): Promise<void> => {
      const found = await client.management.tests.batch(agentId, id).catch((error: unknown) => formatError(error))
      if (left.signal.aborted) return
      if (typeof found === "string") setProblem(found)
      else {
        setProblem("")
        setBatch(found)
      }
      if (typeof found === "string" || found.status === "running") timer = setTimeout(() => void read(), readEveryMs)
    }
    void read()
    return () => {
      left.abort()
      clearTimeout(timer)
    }
  }, [])
  if (batch === null) return <Notice problem={problem} />
  return (
    <section aria-label="Results">
      <Notice problem={problem} />
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
      {run.error !== null && <p class="problem">No result: {run.error}.</p>}
      {open && run.finished_at !== null && <RunView client={client} id={run.run_id} />}
    </details>
  )
}

const sumOf = ({ errors, failed, passed, status, total }: TestBatch): string =>
  [
    `${passed} of ${total} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(errors > 0 ? [`${errors} without a result`] : []),
    ...(status === "running" ? ["still running ..."] : [])
  ].join(", ")

const readEveryMs = 1000
