// Voice to voice over WebRTC on loopback, as a caller hears it: the service in a process of its own, the
// unmodified LiveKit client for Node, real speech, the embedded engines, the default configuration. From the
// caller's last voiced sample (handed to the microphone) to the agent's first audible one (out of the
// client's decoder), both by the client's clock: jitter buffers and codecs of both ways are in it.
import { closeRtc, joinCall, until } from "@parley/server/testing/RtcCaller"
import { startService } from "@parley/server/testing/RunningService"
import { report } from "./report.ts"

const turns = Number(process.argv[2] ?? 20)
const questions = ["what are your opening hours", "i would like to book an appointment", "how much does it cost"]

const service = await startService()
const agent_id = await service.agent({ prompt: { first_message_mode: "fixed", first_message: "Hello." } })
const ticket = await service.api<{ session_id: string; rtc_url: string; token: string }>("POST", "/v1/agent/sessions", {
  agent_id
})
const caller = await joinCall(ticket)
await until("the greeting is over", () => caller.heard.length > 10 && caller.state() === "listening")

const rows: Array<{ readonly heardMs: number }> = []
for (let turn = 0; turn < turns; turn++) {
  await new Promise((pause) => setTimeout(pause, 700))
  const saidAt = await caller.say(questions[turn % questions.length] ?? "")
  await until("an answer", () => (caller.heard.at(-1) ?? 0) > saidAt)
  rows.push({ heardMs: (caller.heard.find((moment) => moment > saidAt) ?? Number.NaN) - saidAt })
  await until("its end", () => performance.now() - (caller.heard.at(-1) ?? 0) > 500 && caller.state() === "listening")
}
await caller.leave()
await new Promise((settled) => setTimeout(settled, 2_000))
const { latency } = await service.api<{ latency: ReadonlyArray<{ total_ms: number }> }>(
  "GET",
  `/v1/agent/sessions/${ticket.session_id}`
)
report(
  "conversation",
  [
    {
      what: "voice to voice as heard by the caller over WebRTC loopback",
      unit: "ms",
      values: rows.map((row) => row.heardMs),
      target: "p50 <= 900"
    },
    { what: "the same as the service's own ledger has it", unit: "ms", values: latency.map((turn) => turn.total_ms) }
  ],
  rows
)
await service.stop()
await closeRtc()
process.exit(0)
