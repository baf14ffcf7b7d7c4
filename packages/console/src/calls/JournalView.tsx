// Every signal and decision of the call, read when it is opened.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { JournalEntry } from "@parley/contract/Fact"
import { useState } from "preact/hooks"
import { formatError } from "../format.ts"

/** The journal of a call, by its session id; times are seconds from its start. */
export const JournalView = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const [entries, setEntries] = useState<ReadonlyArray<JournalEntry> | null>(null)
  const [problem, setProblem] = useState("")
  const open = async (): Promise<void> => {
    try {
      setEntries((await client.sessions.journal(id)).entries)
    } catch (error) {
      setProblem(formatError(error))
    }
  }
  return (
    <details onToggle={(event) => event.currentTarget.open && entries === null && void open()}>
      <summary>Journal</summary>
      {problem !== "" && <p class="problem">{problem}</p>}
      <table class="journal">
        <tbody>
          {(entries ?? []).map((entry, index) => (
            <tr key={index} class={entry.kind}>
              <td class="number">{(entry.at_ms / 1000).toFixed(2)}</td>
              <td>{entry.name}</td>
              <td>
                <code>{Object.keys(entry.data).length === 0 ? "" : JSON.stringify(entry.data)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}
