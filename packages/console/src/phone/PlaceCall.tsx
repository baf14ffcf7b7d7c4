// Placing a call from a number with an agent. The idempotency key makes two presses one call.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import type { PhoneNumber } from "@parley/contract/PhoneNumber"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { AgentChoice } from "./AgentChoice.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agents: ReadonlyArray<Agent>
  readonly number: PhoneNumber
}

/** Places a call from a number with a published agent, then shows its record. */
export const PlaceCall = ({ agents, client, number }: Props) => {
  const live = agents.filter((agent) => agent.publication_state === "live")
  const [picked, setPicked] = useState<string>()
  const wanted = picked ?? number.agent_id
  const agent = live.find((one) => one.agent_id === wanted)?.agent_id ?? ""
  const [to, setTo] = useState("")
  const [key] = useState(newKey)
  const { act, problem } = useAction()
  const call = async (): Promise<string> => {
    const { session_id } = await client.phone.call(
      { agent_id: agent, phone_number_id: number.phone_number_id, to_number: to.replace(/[\s()-]/g, "") },
      key
    )
    go("calls", session_id)
    return ""
  }
  return (
    <section aria-label="Place a call">
      <h3>Place a call</h3>
      <div class="pair">
        <div>
          <AgentChoice
            id="speaks"
            label="Calling agent"
            none="Choose a published agent"
            agents={live}
            chosen={agent}
            onChange={setPicked}
          />
        </div>
        <div>
          <label for="to">To</label>
          <input
            id="to"
            type="tel"
            placeholder="+12025550123"
            value={to}
            onInput={(event) => setTo(event.currentTarget.value)}
          />
        </div>
      </div>
      <Notice problem={problem} />
      <div class="controls">
        <button type="button" disabled={agent === "" || to === ""} onClick={() => act(call)}>
          Call
        </button>
      </div>
    </section>
  )
}

/** The page may be served without TLS, where `randomUUID` is missing. */
const newKey = (): string =>
  [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")
