// One telephone number: status, agent, SIP trunk, placing a call, releasing it.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import type { PhoneNumber } from "@parley/contract/PhoneNumber"
import { useState } from "preact/hooks"
import { formatName } from "../format.ts"
import { useAction } from "../action.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { AgentChoice } from "./AgentChoice.tsx"
import { PlaceCall } from "./PlaceCall.tsx"
import { trunkOf, inputOf } from "./trunk.ts"
import { TrunkFields } from "./TrunkFields.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agents: ReadonlyArray<Agent>
  readonly number: PhoneNumber
  readonly onChanged: () => Promise<void>
}

/** Edits one telephone number; an imported one has its SIP trunk here. */
export const NumberEditor = ({ agents, client, number, onChanged }: Props) => {
  const id = number.phone_number_id
  const [trunk, setTrunk] = useState(() => trunkOf(number))
  const [sure, setSure] = useState(false)
  const { act, message, problem } = useAction()
  const bind = async (agent: string): Promise<string> => {
    await client.phone.update(id, { agent_id: agent === "" ? null : agent })
    await onChanged()
    return agent === "" ? "Callers now hear busy." : "This agent now answers."
  }
  const rename = async (label: string): Promise<string> => {
    await client.phone.update(id, { label })
    await onChanged()
    return "Saved."
  }
  const configure = async (): Promise<string> => {
    setTrunk(trunkOf(await client.phone.configure(id, inputOf(trunk))))
    await onChanged()
    return "The carrier was saved."
  }
  const release = async (): Promise<string> => {
    await client.phone.release(id)
    go("phone")
    await onChanged()
    return ""
  }
  return (
    <article aria-label="Number">
      <h3>{number.phone_number}</h3>
      <Notice message={message} problem={problem} />
      <dl class="facts">
        <dt>Status</dt>
        <dd>
          <span class={`badge ${number.status}`}>{number.status}</span> {number.status_detail}
        </dd>
        <dt>Provider</dt>
        <dd>{number.provider === "sip" ? "your own carrier (SIP)" : number.provider}</dd>
        <dt>Calls</dt>
        <dd>{number.supports_outbound ? "in and out" : "in only"}</dd>
        {number.caller_id_sync_status !== "carrier_managed" && (
          <>
            <dt>Caller's number</dt>
            <dd>
              {formatName(number.caller_id_sync_status)} {number.caller_id_sync_error}
            </dd>
          </>
        )}
      </dl>
      <div class="pair">
        <div>
          <AgentChoice
            id="answers"
            label="Answered by"
            none="No agent: callers hear busy"
            agents={agents}
            chosen={number.agent_id ?? ""}
            onChange={(agent) => void act(() => bind(agent))}
          />
        </div>
        <div>
          <label for="number-label">Label</label>
          <input
            id="number-label"
            maxLength={120}
            value={number.label}
            onChange={(event) => void act(() => rename(event.currentTarget.value))}
          />
        </div>
      </div>
      {number.supports_outbound && <PlaceCall client={client} agents={agents} number={number} />}
      {number.provider === "sip" && (
        <>
          <TrunkFields
            trunk={trunk}
            keptFor={{ inbound: number.inbound_auth_username, termination: number.termination_auth_username }}
            onChange={setTrunk}
          />
          <div class="controls">
            <button type="button" class="primary" onClick={() => act(configure)}>
              Save the carrier
            </button>
          </div>
        </>
      )}
      <h3>Release the number</h3>
      <label class="check">
        <input type="checkbox" checked={sure} onChange={(event) => setSure(event.currentTarget.checked)} />
        I understand that this number stops working here
      </label>
      <div class="controls">
        <button type="button" class="danger" disabled={!sure} onClick={() => act(release)}>
          Release number
        </button>
      </div>
    </article>
  )
}
