// Importing a telephone number of the customer's own carrier.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { AgentChoice } from "./AgentChoice.tsx"
import { noTrunk, inputOf } from "./trunk.ts"
import { TrunkFields } from "./TrunkFields.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agents: ReadonlyArray<Agent>
  readonly onChanged: () => Promise<void>
}

/** Imports a telephone number of one's own carrier. */
export const NumberImport = ({ agents, client, onChanged }: Props) => {
  const [number, setNumber] = useState("")
  const [label, setLabel] = useState("")
  const [agent, setAgent] = useState("")
  const [trunk, setTrunk] = useState(noTrunk)
  const { act, problem } = useAction()
  const bring = async (): Promise<string> => {
    const made = await client.phone.create({
      provider: "sip",
      phone_number: number.replace(/[\s()-]/g, ""),
      label,
      agent_id: agent === "" ? null : agent,
      ...inputOf(trunk)
    })
    await onChanged()
    go("phone", made.phone_number_id)
    return ""
  }
  return (
    <article aria-label="Import">
      <div class="pair">
        <div>
          <label for="number">Number</label>
          <input
            id="number"
            type="tel"
            placeholder="+12025550123"
            value={number}
            onInput={(event) => setNumber(event.currentTarget.value)}
          />
        </div>
        <div>
          <label for="number-label">Label</label>
          <input
            id="number-label"
            maxLength={120}
            placeholder="Front desk"
            value={label}
            onInput={(event) => setLabel(event.currentTarget.value)}
          />
        </div>
      </div>
      <AgentChoice
        id="answers"
        label="Answered by"
        none="No agent: callers hear busy"
        agents={agents}
        chosen={agent}
        onChange={setAgent}
      />
      <TrunkFields trunk={trunk} keptFor={{ inbound: "", termination: "" }} onChange={setTrunk} />
      <Notice problem={problem} />
      <div class="controls">
        <button type="button" class="primary" onClick={() => act(bring)}>
          Import number
        </button>
        <button type="button" onClick={() => go("phone")}>
          Cancel
        </button>
      </div>
    </article>
  )
}
