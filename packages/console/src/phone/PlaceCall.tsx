// A call from a number to somebody, held by an agent. Pressed twice, it is one call.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import type { PhoneNumber } from "@parley/contract/PhoneNumber"
import { useState } from "preact/hooks"
import { useDoing } from "../loaded.ts"
import { go } from "../route.ts"
import { Said } from "../Said.tsx"
import { AgentChoice } from "./AgentChoice.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agents: ReadonlyArray<Agent>
  readonly number: PhoneNumber
}

export const PlaceCall = ({ agents, client, number }: Props) => {
  const live = agents.filter((agent) => agent.publication_state === "live")
  const [picked, setPicked] = useState<string>()
  const wanted = picked ?? number.agent_id
  const agent = live.find((one) => one.agent_id === wanted)?.agent_id ?? ""
  const [to, setTo] = useState("")
  const [key] = useState(newKey)
  const { act, problem } = useDoing()
  const call = async (): Promise<string> => {
    const { session_id } = await client.phone.call(
      { agent_id: agent, phone_number_id: number.phone_number_id, to_number: to.replace(/[\s()-]/g, "") },
      key
    )
    go("calls", session_id)
    return ""
  }
  return (
    <section aria-label="Call somebody">
      <h3>Call somebody</h3>
      <div class="pair">
        <div>
          <AgentChoice
            id="speaks"
            label="Who speaks"
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
      <Said problem={problem} />
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
