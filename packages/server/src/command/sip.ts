// `parley sip check | call | trace`: whether a trunk is there, whether a call gets through, what the peers of a call
// said. Calls are placed from a port of the command's own, so that a running service is not disturbed.
import { defaultPlan } from "@parley/engine/CallPlan"
import type { Playout } from "@parley/engine/playout/Playout"
import { speak } from "@parley/engine/transfer/speak"
import { makeFliteSynthesizer } from "@parley/speech/flite/FliteSynthesizer"
import type { SipTraceLine, OutboundTrunk, SipServer, PhoneLeg } from "@parley/transport/phone/Phone"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SipTraces } from "@parley/workspace/phone/SipTraces"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { outboundTrunk } from "@parley/app/phone/trunks"
import { version } from "../version.ts"
import { printed } from "./printed.ts"
import { workspaceFlag } from "./workspace.ts"

const sentence = "Hello, this is a test call from Parley. You should hear this sentence to its end. Goodbye."
const listenMs = 3_000
const ringSeconds = 30

const checked = Command.make(
  "check",
  { trunk: Argument.String("trunk").pipe(Argument.withDescription("HOST, HOST:PORT, or a number whose trunk it is")) },
  ({ trunk }) => printed(check(trunk))
).pipe(Command.withDescription("Ask a trunk whether it is there"))

const called = Command.make(
  "call",
  {
    to: Argument.String("to").pipe(
      Argument.withDescription("URI such as sip:100@192.0.2.7, or a number with --number")
    ),
    from: Flag.String("from").pipe(Flag.withDescription("caller id"), Flag.withDefault("anonymous")),
    number: Flag.String("number").pipe(
      Flag.withDescription("a number of ours, over whose trunk to call"),
      Flag.optional
    )
  },
  ({ from, number, to }) => printed(call(to, { from, number: Option.getOrUndefined(number) }))
).pipe(Command.withDescription("Place a call that says a sentence, and tell how it went"))

const traced = Command.make(
  "trace",
  { session: Argument.String("session"), workspace: workspaceFlag },
  ({ session, workspace }) => printed(trace(session, workspace))
).pipe(Command.withDescription("What the peers of a call said to each other"))

/** `parley sip check TRUNK | call TO | trace SESSION`. */
export const sip = Command.make("sip").pipe(
  Command.withDescription("The telephone's trunks and calls"),
  Command.withSubcommands([checked, called, traced])
)

interface CallOptions {
  readonly from: string
  readonly number: string | undefined
}

const server = Effect.acquireRelease(
  Effect.promise(() =>
    makeSipServer({
      network: {
        host: "0.0.0.0",
        port: undefined,
        tls: undefined,
        publicAddress: undefined,
        rtpPorts: undefined
      },
      // Whoever may run this asks for the address itself.
      mayReach: () => true,
      userAgent: `Parley/${version}`,
      handlers: {
        trunksOf: () => Promise.resolve([]),
        onCall: (incoming) => incoming.refuse(486)
      }
    })
  ),
  (opened: SipServer) => Effect.promise(opened.close)
)

/** A number of ours stands for its trunk; anything else is a host. */
const trunkNamed = Effect.fnUntraced(function* (subject: string) {
  if (!subject.startsWith("+")) {
    return { uri: subject, transport: "auto", credentials: undefined } satisfies OutboundTrunk
  }
  const [line] = yield* (yield* PhoneLines).dialled(subject)
  const trunk = line === undefined ? undefined : outboundTrunk(line, (yield* Secrets).of)
  return trunk ?? (yield* new StartFault({ message: `there is no number ${subject} that places calls` }))
})

const check = Effect.fnUntraced(function* (subject: string) {
  const trunk = yield* trunkNamed(subject)
  const { sipStatus, tookMs } = yield* Effect.flatMap(server, (opened) => Effect.promise(() => opened.check(trunk)))
  if (sipStatus === null) return yield* new StartFault({ message: `${trunk.uri} did not answer within ${tookMs} ms` })
  return `${trunk.uri} answered ${sipStatus} in ${tookMs} ms`
}, Effect.scoped)

const call = Effect.fnUntraced(function* (uri: string, { from, number }: CallOptions) {
  const host = /^sips?:(?:[^@]*@)?([^;>?\s]+)/i.exec(uri)?.[1]
  if (host === undefined && number === undefined) {
    return yield* new StartFault({
      message: "URI must be such as sip:100@192.0.2.7, or give --number with a number to call"
    })
  }
  const trunk = yield* trunkNamed(number ?? host ?? "")
  const opened = yield* server
  const dialling = opened.dial({ trunk, from: number ?? from, to: uri, headers: {}, ringSeconds })
  const outcome = yield* Effect.promise(() => dialling.outcome)
  if (outcome.status !== "answered") {
    return yield* new StartFault({
      message: `${uri}: ${outcome.status}${outcome.sipStatus === null ? "" : `, ${outcome.sipStatus}`}`
    })
  }
  const heard = yield* talk(outcome.leg)
  const sipTrace = outcome.leg.sipTrace()
  outcome.leg.close("agent_hangup")
  return [`answered; ${heard}`, ...formatTrace(sipTrace)].join("\n")
}, Effect.scoped)

/** Says the sentence, listens a little longer, and tells what came. */
const talk = Effect.fnUntraced(function* (leg: PhoneLeg) {
  const frame = new Int16Array(leg.playRate / 50)
  const heard = { frames: 0, loud: 0, digits: "" }
  let playing: Playout | undefined
  leg.attach({
    onFrame: (samples) => {
      heard.frames++
      if (samples.some((sample) => Math.abs(sample) > 1_000)) heard.loud++
    },
    onEvent: () => undefined,
    onDigit: (digit) => (heard.digits += digit),
    onClosed: () => undefined
  })
  yield* Effect.acquireRelease(
    Effect.sync(() => setInterval(() => leg.play(playing?.read(frame) === true ? frame : undefined), 20)),
    (timer) => Effect.sync(() => clearInterval(timer))
  )
  const synthesizer = yield* makeFliteSynthesizer()
  yield* speak(sentence, leg.playRate, defaultPlan("test", ""), synthesizer, (playout) => (playing = playout))
  yield* Effect.sleep(listenMs)
  const keys = heard.digits === "" ? "" : `, keys ${heard.digits}`
  return `heard ${seconds(heard.frames)} s, ${seconds(heard.loud)} s of it loud${keys}`
})

/** Of frames of 20 ms. */
const seconds = (frames: number): string => (frames / 50).toFixed(1)

const trace = Effect.fnUntraced(function* (sessionId: string, workspace: string) {
  const id = yield* (yield* Workspaces).find(workspace)
  const sipTrace = yield* (yield* SipTraces)
    .of(id ?? "", sessionId)
    .pipe(Effect.mapError(() => new StartFault({ message: `there is no session ${sessionId} in ${workspace}` })))
  if (sipTrace.length === 0) return "no SIP messages were kept of this session"
  return formatTrace(sipTrace as ReadonlyArray<SipTraceLine>).join("\n")
})

/** Theirs on the left, ours on the right. */
const formatTrace = (sipTrace: ReadonlyArray<SipTraceLine>): ReadonlyArray<string> =>
  sipTrace.map(({ atMs, detail, direction, what }) => {
    const arrow = { in: `${what} -->`, out: `<-- ${what}`, note: `    (${what})` }[direction]
    return [`${(atMs / 1000).toFixed(3).padStart(9)}  ${arrow.padEnd(36)}`, detail].join("  ").trimEnd()
  })
