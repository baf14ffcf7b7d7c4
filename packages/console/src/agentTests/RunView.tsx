// One run of a test: each expectation with its verdict, and what was said and done.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { Transcript } from "../calls/Transcript.tsx"
import { useLoaded } from "../loaded.ts"
import { Said } from "../Said.tsx"
import { inSentence } from "./expectation.ts"

export const RunView = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const { problem, value: run } = useLoaded(() => client.office.tests.getRun(id), [id])
  if (run === null) return <Said problem={problem} />
  return (
    <>
      <ul class="verdicts">
        {run.expectations.map(({ expectation, passed, reason }, index) => (
          <li key={index} class={passed ? "passed" : "failed"}>
            <b>{passed ? "Met" : "Missed"}</b> {inSentence(expectation)}
            {reason !== "" && <small>{reason}</small>}
          </li>
        ))}
      </ul>
      <Transcript items={run.items} began={run.items[0]?.created_at ?? null} />
    </>
  )
}
