// The workspace's telephone numbers: the list, and the one that is imported or looked into.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import type { PhoneNumber } from "@parley/contract/PhoneNumber"
import { useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { NumberEditor } from "./NumberEditor.tsx"
import { NumberImport } from "./NumberImport.tsx"

interface Props {
  readonly client: ParleyClient
  /** Empty for none, `new` for one that is being imported. */
  readonly chosen: string
}

/** The page of telephone numbers. */
export const PhonePage = ({ chosen, client }: Props) => {
  const { problem, reload, value } = useLoaded(() => client.phone.list({ page_size: 100 }), [])
  const allAgents = useLoaded(() => client.agents.list({ page_size: 100 }), [])
  const numbers = value?.phone_numbers ?? []
  const agents = allAgents.value?.agents ?? []
  const number = numbers.find((one) => one.phone_number_id === chosen)
  return (
    <section class="page" aria-label="Phone numbers">
      <header>
        <h2>Phone numbers</h2>
        <button type="button" class="primary" onClick={() => go("phone", "new")}>
          Import a number
        </button>
      </header>
      <Notice problem={problem || allAgents.problem} />
      {value !== null && numbers.length === 0 && chosen === "" && (
        <p class="hint">
          Import a number from your own carrier: set which addresses can call it and where outbound calls are sent, and
          select the agent that answers.
        </p>
      )}
      <div class="halves">
        <ul class="cards" aria-label="Numbers">
          {numbers.map((one) => (
            <li key={one.phone_number_id} class={one === number ? "chosen" : ""}>
              <a href={href("phone", one.phone_number_id)}>{one.phone_number}</a>
              <small>
                <span class={`badge ${one.status}`}>{one.status}</span> {one.label}
                {one.label === "" ? "" : ", "}
                {whoAnswers(one, agents)}
              </small>
            </li>
          ))}
        </ul>
        {chosen === "new" && <NumberImport client={client} agents={agents} onChanged={reload} />}
        {number !== undefined && (
          <NumberEditor key={chosen} client={client} agents={agents} number={number} onChanged={reload} />
        )}
      </div>
    </section>
  )
}

const whoAnswers = ({ agent_id }: PhoneNumber, agents: ReadonlyArray<Agent>): string =>
  agent_id === null
    ? "not assigned"
    : `${agents.find((agent) => agent.agent_id === agent_id)?.name ?? "an agent"} answers`
