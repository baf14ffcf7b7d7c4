// The conversation with the chosen agent: start, captions, state, microphone, typed input, end, and the
// latency of each turn. Every failure is shown as a sentence.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import type { Health } from "@parley/contract/Health"
import { useEffect, useState } from "preact/hooks"
import { type Call, noCall, startCall } from "./call.ts"
import { Captions } from "./Captions.tsx"
import { Waterfall } from "../Waterfall.tsx"

interface Props {
  readonly client: ParleyClient
  readonly agent: Agent
  readonly health: Health | null
}

/** The panel in which one calls the agent, or its draft, from the browser. */
export const Talk = ({ agent, client, health }: Props) => {
  const [view, setView] = useState(noCall)
  const [call, setCall] = useState<Call | null>(null)
  useEffect(() => () => call?.end(), [call])

  const start = (mode: "live" | "draft"): void => {
    const ticket = () =>
      mode === "live"
        ? client.sessions.create({ agent_id: agent.agent_id, name: "Console" })
        : client.agents.preview(agent.agent_id)
    setCall(startCall(ticket, setView))
  }
  const live = view.phase === "connecting" || view.phase === "live" || view.phase === "reconnecting"
  const unheard = recognitionProblem(health)
  return (
    <section class="talk" aria-label="Conversation">
      <header>
        <h2>Talk</h2>
        <span class="state" role="status">
          {words[view.phase]} {view.phase === "live" && <b data-state={view.state}>{view.state}</b>}
        </span>
      </header>
      {unheard !== "" && (
        <p class="problem" role="alert">
          {unheard}
        </p>
      )}
      {view.problem !== "" && view.problem !== unheard && (
        <p class="problem" role="alert">
          {view.problem}
        </p>
      )}
      <div class="controls">
        {live ? (
          <>
            <button type="button" class="danger" onClick={() => call?.end()}>
              Hang up
            </button>
            <button type="button" aria-pressed={view.muted} onClick={() => call?.mute(!view.muted)}>
              {view.muted ? "Unmute" : "Mute"}
            </button>
            <button type="button" onClick={() => call?.interrupt()}>
              Interrupt
            </button>
          </>
        ) : (
          <>
            <button
              type="button"
              class="primary"
              disabled={agent.publication_state !== "live"}
              title={agent.publication_state === "live" ? "" : "Publish the agent first"}
              onClick={() => start("live")}
            >
              Call the agent
            </button>
            <button type="button" onClick={() => start("draft")}>
              Try the draft
            </button>
          </>
        )}
      </div>
      {live && <Meter level={() => call?.level() ?? 0} />}
      {view.phase === "idle" ? (
        <div class="empty small">
          {agent.publication_state === "live"
            ? "Call the agent and speak. The browser asks for the microphone; headphones avoid echo."
            : "Publish the agent to call it, or try the draft as it was saved."}
        </div>
      ) : (
        <Captions captions={view.captions} />
      )}
      {live && <Typed onSend={(text) => call?.say(text)} onTyping={() => call?.typing()} />}
      {view.ended !== "" && <p class="hint">The call is over: {view.ended}.</p>}
      <Waterfall turns={view.turns} />
    </section>
  )
}

/** Why the agent cannot hear the caller: no engine recognises speech at this moment. Empty while one does. */
const recognitionProblem = (health: Health | null): string => {
  const asr = health?.serves["asr"] ?? []
  if (health === null || asr.some((one) => one.state !== "down")) return ""
  return asr.every((one) => one.name === "pocketsphinx")
    ? "The agent cannot hear you, type instead: PocketSphinx is not installed. On Debian: apt-get install libpocketsphinx3 pocketsphinx-en-us, and start the service again; or set PARLEY_ASR_BASE_URL."
    : `The agent cannot hear you at the moment, type instead: ${asr.map((one) => one.name).join(" and ")} does not recognise speech.`
}

const words = {
  idle: "",
  connecting: "Connecting ...",
  live: "Connected:",
  reconnecting: "The connection dropped. Trying again ...",
  over: ""
} as const

const Typed = ({ onSend, onTyping }: { readonly onSend: (text: string) => void; readonly onTyping: () => void }) => {
  const [text, setText] = useState("")
  const send = (event: Event): void => {
    event.preventDefault()
    if (text.trim() !== "") onSend(text.trim())
    setText("")
  }
  return (
    <form class="typed" onSubmit={send}>
      <input
        aria-label="Type to the agent"
        placeholder="Type instead of talking"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          onTyping()
        }}
      />
      <button type="submit">Send</button>
    </form>
  )
}

/** How loud the microphone is, ten times a second. */
const Meter = ({ level }: { readonly level: () => number }) => {
  const [value, setValue] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => setValue(level()), 100)
    return () => clearInterval(timer)
  }, [level])
  return (
    <div class="meter" role="meter" aria-label="Microphone level" aria-valuenow={Math.round(value * 100)}>
      <i style={{ width: `${Math.min(100, value * 140)}%` }} />
    </div>
  )
}
