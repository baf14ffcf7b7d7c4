// One call as the page sees it: a session object underneath, a plain view above. Every change gives a new
// view; failures become sentences. The microphone is asked for once the agent is there, so that a refusal
// leaves a call that can be typed in.
import { AgentSession } from "@parley/client/browser/AgentSession"
import { AgentSessionError } from "@parley/client/browser/AgentSessionError"
import type { SessionTicket } from "@parley/contract/Session"
import type { TurnLatency } from "@parley/contract/TurnLatency"
import { type Caption, withCaption } from "./Captions.tsx"
import { formatError } from "../format.ts"

/** What the page shows of a call. */
export interface CallView {
  readonly phase: "idle" | "connecting" | "live" | "reconnecting" | "over"
  /** listening, thinking or speaking. */
  readonly state: string
  readonly captions: ReadonlyArray<Caption>
  readonly turns: ReadonlyArray<TurnLatency>
  readonly muted: boolean
  readonly problem: string
  readonly ended: string
}

export const noCall: CallView = {
  phase: "idle",
  state: "listening",
  captions: [],
  turns: [],
  muted: false,
  problem: "",
  ended: ""
}

/** What the page can do with a call. */
export interface Call {
  readonly end: () => void
  readonly mute: (muted: boolean) => void
  readonly interrupt: () => void
  readonly say: (text: string) => void
  readonly typing: () => void
  /** Microphone, 0 to 1. */
  readonly level: () => number
}

/** Asks for a ticket and joins with it; `show` gets every view, the first one at once. */
export const startCall = (ticket: () => Promise<SessionTicket>, show: (view: CallView) => void): Call => {
  let view: CallView = { ...noCall, phase: "connecting" }
  let session: AgentSession | undefined
  let hungUp = false
  const change = (part: Partial<CallView>): void => {
    view = { ...view, ...part }
    show(view)
  }
  const caption = (changed: Caption): void => change({ captions: withCaption(view.captions, changed) })
  const problem = (error: unknown): void => change({ problem: formatCallError(error) })

  const microphone = async (muted: boolean): Promise<void> => {
    try {
      await session?.setMicMuted(muted)
      change({ muted, problem: "" })
    } catch (error) {
      change({ muted: true, problem: formatCallError(error) })
    }
  }

  const join = async (): Promise<void> => {
    session = await AgentSession.start({
      session: await ticket(),
      microphone: false,
      onStatusChange: ({ status }) => {
        if (status === "connected") change({ phase: "live" })
        else if (status === "reconnecting") change({ phase: "reconnecting" })
      },
      onModeChange: ({ mode }) => change({ state: mode }),
      onUserTranscript: ({ final, segmentId, text }) => caption({ id: segmentId, who: "user", text, final }),
      onAgentResponseDelta: ({ segmentId, text }) => caption({ id: segmentId, who: "agent", text, final: false }),
      onAgentResponse: ({ segmentId, text }) => caption({ id: segmentId, who: "agent", text, final: true }),
      onTurnLatency: (latency) => change({ turns: [...view.turns, latency as TurnLatency] }),
      onError: problem,
      onDisconnect: ({ reason }) => change({ phase: "over", ended: endings[reason] ?? reason.replaceAll("_", " ") })
    })
    if (hungUp) return session.end()
    await session.startAudio().catch(() => undefined)
    await microphone(false)
  }

  change({})
  join().catch((error: unknown) => change({ phase: "over", problem: formatCallError(error), ended: "" }))

  return {
    end: () => {
      hungUp = true
      void session?.end()
    },
    mute: (muted) => void microphone(muted),
    interrupt: () => session?.interrupt(),
    say: (text) => session?.sendUserMessage(text, { audio: true }),
    typing: () => session?.sendUserActivity(),
    level: () => (view.muted ? 0 : (session?.getInputVolume() ?? 0))
  }
}

const endings: Readonly<Record<string, string>> = {
  user_hangup: "you hung up",
  agent_hangup: "the agent hung up",
  connection_lost: "the connection was lost",
  heartbeat_timeout: "the connection was lost",
  conversation_timeout: "it reached the maximum duration",
  llm_endpoint_failure: "the language model failed three times in a row",
  internal_error: "an internal error"
}

const formatCallError = (error: unknown): string => {
  if (!(error instanceof AgentSessionError)) return formatError(error)
  switch (error.code) {
    case "mic_permission_denied":
      if (error.cause instanceof DOMException && error.cause.name === "NotFoundError")
        return "No microphone was found. Plug one in, then press Unmute; or type."
      return "The microphone was refused. Allow it for this page in the browser's site settings, then press Unmute; or type."
    case "connection_failed":
      return `The connection failed: ${error.message}.`
    case "session_expired":
      return "The session expired before joining. Call again."
    case "provider_error":
      return /speech recognition/.test(error.message)
        ? "No engine recognises speech here: the agent cannot hear you, but reads what you type."
        : "An engine of the service failed. The call goes on."
    default:
      return error.message
  }
}
