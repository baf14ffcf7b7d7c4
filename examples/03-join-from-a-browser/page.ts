// The page: a ticket from our own backend, a conversation, captions. It never sees the API key.
import { AgentSession } from "@parley/client/browser/AgentSession"

const button = document.querySelector<HTMLButtonElement>("#talk")!
const status = document.querySelector("#status")!
const captions = document.querySelector("#captions")!
let session: AgentSession | undefined

/** One line per segment; what is told again replaces what was told before. */
const caption = (who: string, segmentId: string, text: string): void => {
  const line = document.getElementById(segmentId) ?? captions.appendChild(document.createElement("li"))
  line.id = segmentId
  line.textContent = `${who}: ${text}`
}

const join = async (): Promise<AgentSession> => {
  const answer = await fetch("/session", { method: "POST" })
  if (!answer.ok) throw new Error(await answer.text())
  return AgentSession.start({
    session: await answer.json(),
    onModeChange: ({ mode }) => (status.textContent = mode),
    onUserTranscript: ({ segmentId, text }) => caption("You", segmentId, text),
    onAgentResponseDelta: ({ segmentId, text }) => caption("Agent", segmentId, text),
    onDisconnect: ({ reason }) => {
      status.textContent = reason
      button.textContent = "Talk"
      session = undefined
    }
  })
}

button.onclick = async () => {
  button.disabled = true
  try {
    if (session) await session.end()
    else {
      session = await join()
      button.textContent = "Hang up"
    }
  } catch (error) {
    status.textContent = error instanceof Error ? error.message : String(error)
  }
  button.disabled = false
}
