// A number of the customer's own carrier, made known here.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import { useState } from "preact/hooks"
import { useDoing } from "../loaded.ts"
import { go } from "../route.ts"
import { Said } from "../Said.tsx"
import { AgentChoice } from "./AgentChoice.tsx"
import { noTrunk, inputOf } from "./trunk.ts"
import { TrunkFields } from "./TrunkFields.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agents: ReadonlyArray<Agent>
  readonly onChanged: () => Promise<void>
}

export const NumberImport = ({ agents, client, onChanged }: Props) => {
  const [number, setNumber] = useState("")
  const [label, setLabel] = useState("")
  const [agent, setAgent] = useState("")
  const [trunk, setTrunk] = useState(noTrunk)
  const { act, problem } = useDoing()
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
          <label for="number-label">What you call it</label>
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
        label="Who answers"
        none="Nobody: it rings busy"
        agents={agents}
        chosen={agent}
        onChange={setAgent}
      />
      <TrunkFields trunk={trunk} keptFor={{ inbound: "", termination: "" }} onChange={setTrunk} />
      <Said problem={problem} />
      <div class="controls">
        <button type="button" class="primary" onClick={() => act(bring)}>
          Import it
        </button>
        <button type="button" onClick={() => go("phone")}>
          Leave it
        </button>
      </div>
    </article>
  )
}
