// A select box of agents.
import type { Agent } from "@parley/contract/Agent"

interface Props {
  readonly id: string
  readonly label: string
  readonly agents: ReadonlyArray<Agent>
  /** Empty for none. */
  readonly chosen: string
  /** What no agent is called. */
  readonly none: string
  readonly onChange: (agentId: string) => void
}

/** Selects an agent by its name. */
export const AgentChoice = ({ agents, chosen, id, label, none, onChange }: Props) => (
  <>
    <label for={id}>{label}</label>
    <select id={id} value={chosen} onChange={(event) => onChange(event.currentTarget.value)}>
      <option value="">{none}</option>
      {agents.map((agent) => (
        <option key={agent.agent_id} value={agent.agent_id}>
          {agent.name}
        </option>
      ))}
    </select>
  </>
)
