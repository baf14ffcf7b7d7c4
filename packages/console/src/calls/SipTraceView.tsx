// The SIP messages of a telephone call, read when the section is opened: to find out why a call was not set up.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { SessionDetail } from "@parley/contract/Session"
import { useState } from "preact/hooks"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"

interface Props {
  readonly client: ParleyClient
  /** Read again whenever this is. */
  readonly call: SessionDetail
}

/** The SIP trace of a telephone call; times are seconds from its start. */
export const SipTraceView = ({ call, client }: Props) => {
  const [open, setOpen] = useState(false)
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>SIP trace</summary>
      {open && <Lines client={client} call={call} />}
    </details>
  )
}

const Lines = ({ call, client }: Props) => {
  const { problem, value } = useLoaded(() => client.sessions.sipTrace(call.session_id), [call])
  return (
    <>
      <Notice problem={problem} />
      {value?.lines.length === 0 && <p class="hint">No messages yet.</p>}
      <table class="journal">
        <tbody>
          {(value?.lines ?? []).map((line, index) => (
            <tr key={index}>
              <td class="number">{(line.at_ms / 1000).toFixed(2)}</td>
              <td>{arrows[line.direction]}</td>
              <td>{line.what}</td>
              <td>
                <code>{line.detail}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}

const arrows = { in: "in", out: "out", note: "" } as const
