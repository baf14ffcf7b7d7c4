// The telephone: how many G.711 calls one process holds before its frames come late, how soon a caller is greeted, what
// a call takes, and whether ten thousand of them leave anything behind. Callers are in this process, the side that is
// measured in another. Engines are scripted; VAD, recogniser and models are not in it.
//   PHONE_CHURN=10000  calls of the churn (1000 by default)
import { makeSipServer } from "@parley/transport/sip/SipServer"
import type { SipServer, PhoneLeg } from "@parley/transport/phone/Phone"
import { fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { setTimeout as rest } from "node:timers/promises"
import type { Figures } from "./phoneServer.ts"
import { report } from "./report.ts"

const steps = [40, 80, 120, 160, 200, 240]
const stepMs = 8_000
const churn = Number(process.env["PHONE_CHURN"] ?? 1_000)
const setUps = 100

const start = async (ttsMs: number) => {
  const child = fork(join(import.meta.dirname, "phoneServer.ts"), [String(ttsMs)], { execArgv: ["--expose-gc"] })
  const [{ port }] = (await once(child, "message")) as [{ readonly port: number }]
  return {
    port,
    figures: async (): Promise<Figures> => {
      child.send("figures")
      return ((await once(child, "message")) as [Figures])[0]
    },
    stop: async () => {
      child.kill("SIGTERM")
      await once(child, "exit")
    }
  }
}

const caller = (): Promise<SipServer> =>
  makeSipServer({
    network: {
      host: "127.0.0.1",
      port: undefined,
      tls: undefined,
      publicAddress: undefined,
      rtpPorts: [20_000, 59_000]
    },
    mayReach: () => true,
    userAgent: "bench",
    handlers: {
      trunksOf: () => Promise.resolve([]),
      onCall: (call) => call.refuse(486)
    }
  })

const dial = async (server: SipServer, port: number): Promise<PhoneLeg> => {
  const { outcome } = server.dial({
    trunk: { uri: `127.0.0.1:${port}`, transport: "udp", credentials: undefined },
    from: "+14155550100",
    to: "+14155550123",
    headers: {},
    ringSeconds: 20
  })
  const answered = await outcome
  if (answered.status !== "answered") throw new Error(`a call was ${answered.status}, ${answered.sipStatus}`)
  return answered.leg
}

const voice = Int16Array.from({ length: 160 }, (_, i) => 6_000 * Math.sin((2 * Math.PI * 300 * i) / 8_000))

/** Two seconds of voice, then four of silence, each caller at another point of it; one timer for all. */
const legs: Array<PhoneLeg> = []
let tick = 0
const pace = setInterval(() => {
  tick++
  for (const [i, leg] of legs.entries()) leg.play((tick + i * 37) % 300 < 100 ? voice : undefined)
}, 20)

const deaf = { onFrame: () => undefined, onEvent: () => undefined, onDigit: () => undefined, onClosed: () => undefined }

const server = await caller()
const rows: Array<unknown> = []

// How many at once.
const busy = await start(150)
const empty = await busy.figures()
console.log("calls   late frames   CPU of a core   per call      RSS per call")
let most = 0
for (const step of steps) {
  while (legs.length < step) {
    const leg = await dial(server, busy.port)
    leg.attach(deaf)
    legs.push(leg)
  }
  await rest(1_500)
  await busy.figures()
  await rest(stepMs)
  const now = await busy.figures()
  const share = now.late / Math.max(1, now.frames)
  if (share < 0.01) most = step
  rows.push({ step, ...now })
  const cpu = now.cpuMs / stepMs
  console.log(
    `${String(step).padStart(5)}   ${(100 * share).toFixed(2).padStart(8)} %   ${(100 * cpu).toFixed(0).padStart(10)} %   ` +
      `${((100 * cpu) / step).toFixed(2).padStart(6)} %   ${(((now.rssMb - empty.rssMb) * 1024) / step).toFixed(0).padStart(12)} KiB`
  )
}
console.log(`most calls with less than 1 % of frames more than 20 ms late: ${most}   target: >= 120`)
for (const leg of legs.splice(0)) leg.close("user_hangup")
await rest(1_000)
await busy.stop()

// How soon a caller is greeted, the synthesizer being at once.
const quick = await start(0)
const greeted: Array<number> = []
for (let i = 0; i < setUps; i++) {
  const began = performance.now()
  const leg = await dial(server, quick.port)
  greeted.push(
    await new Promise<number>((resolve) =>
      leg.attach({
        ...deaf,
        onFrame: (samples) => samples.some((sample) => Math.abs(sample) > 500) && resolve(performance.now() - began)
      })
    )
  )
  legs.push(leg)
  await rest(30)
  legs.pop()
  leg.close("user_hangup")
}
report(
  "phone",
  [{ what: "INVITE to the first frame of the greeting heard", unit: "ms", values: greeted, target: "p95 <= 60" }],
  rows
)

// Whether all of it comes back.
const round = async (count: number): Promise<void> => {
  let left = count
  const one = async (): Promise<void> => {
    while (left-- > 0) {
      const leg = await dial(server, quick.port)
      leg.attach(deaf)
      leg.play(voice)
      leg.close("user_hangup")
    }
  }
  await Promise.all(Array.from({ length: 20 }, one))
}
/** Finished calls answer repeats for half a minute. */
const lingerMs = 36_000
await round(200)
await rest(lingerMs)
const before = await quick.figures()
await round(churn)
await rest(lingerMs)
const after = await quick.figures()
console.log(
  `${churn} calls placed and ended: heap ${before.heapMb.toFixed(1)} -> ${after.heapMb.toFixed(1)} MB, ` +
    `handles ${before.handles} -> ${after.handles}, calls ${after.calls}   target: back to start`
)
await quick.stop()
clearInterval(pace)
await server.close()
