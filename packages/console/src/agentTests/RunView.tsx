// One run of a test: each expectation with its result, and the transcript.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { Transcript } from "../calls/Transcript.tsx"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"
import { formatExpectation } from "./expectation.ts"

/** The result of one test run, by its id. */
export const RunView = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const { problem, value: run } = useLoaded(() => client.management.tests.getRun(id), [id])
  if (run === null) return <Notice problem={problem} />
  return (
    <>
      <ul class="verdicts">
        {run.expectations.map(({ expectation, passed, reason }, index) => (
          <li key={index} class={passed ? "passed" : "failed"}>
            <b>{passed ? "Passed" : "Failed"}</b> {formatExpectation(expectation)}
            {reason !== "" && <small>{reason}</small>}
          </li>
        ))}
      </ul>
      <Transcript items={run.items} began={run.items[0]?.created_at ?? null} />
    </>
  )
}
