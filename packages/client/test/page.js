// Runs in the browser of the test: a session and a log of everything it tells.
import { AgentSession } from "../src/browser/AgentSession.ts"

const log = []
let session

const note = (name) => (payload) =>
  log.push([name, payload instanceof Error ? { code: payload.code, message: payload.message } : payload])

globalThis.app = {
  log: () => log,
  start: async (options) => {
    try {
      session = await AgentSession.start({
        ...options,
        clientTools: { add: ({ a, b }) => a + b, hang: () => new Promise(() => undefined) },
        clientToolTimeoutMs: 200,
        ...Object.fromEntries(
          [
            "connect",
            "disconnect",
            "statusChange",
            "modeChange",
            "userTranscript",
            "agentResponseDelta",
            "agentResponse",
            "message",
            "toolCallStarted",
            "turnLatency",
            "error"
          ].map((name) => [`on${name[0].toUpperCase()}${name.slice(1)}`, note(name)])
        )
      })
      return "started"
    } catch (error) {
      return error.code
    }
  },
  do: async (method, ...args) => {
    const result = await session[method](...args)
    return typeof result === "function" ? undefined : result
  },
  get: (name) => session[name],
  volumes: () => ({ input: session.getInputVolume(), output: session.getOutputVolume() }),
  spectrum: () => session.getOutputFrequencyData().length
}
