// The operator's `sip` commands against a SIP server of our own on loopback.
import { assert, layer } from "@effect/vitest"
import type { PhoneLeg } from "@parley/transport/phone/Phone"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import * as LocalInventory from "@parley/workspace/phone/LocalInventory"
import { PhoneLines } from "@parley/workspace/phone/PhoneLines"
import { SipTraces } from "@parley/workspace/phone/SipTraces"
import { makeSecretBox } from "@parley/workspace/storage/SecretBox"
import { Secrets } from "@parley/workspace/storage/Secrets"
import { Sessions } from "@parley/workspace/sessions/Sessions"
import { StartFault } from "@parley/workspace/storage/StartFault"
import * as TestDatabase from "@parley/workspace/testing/TestDatabase"
import { Workspaces } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer } from "effect"
import { CliError } from "effect/cli"
import { sip } from "../src/command/sip.ts"
import { commandOutput } from "../src/testing/commandOutput.ts"

const live = Layer.mergeAll(
  PhoneLines.layer.pipe(Layer.provide(LocalInventory.layer)),
  SipTraces.layer.pipe(Layer.provide(Sessions.layer)),
  Workspaces.layer,
  Layer.sync(Secrets, () => makeSecretBox(Buffer.alloc(32, 1)))
).pipe(Layer.provide(TestDatabase.layer))

const runSip = (...words: ReadonlyArray<string>) => commandOutput(sip, words)

/** Answers 100, is busy for everybody else. */
const farSide = Effect.acquireRelease(
  Effect.promise(() =>
    makeSipServer({
      network: {
        host: "127.0.0.1",
        port: 0,
        tls: undefined,
        publicAddress: undefined,
        rtpPorts: undefined
      },
      mayReach: () => true,
      userAgent: "far",
      handlers: {
        trunksOf: () => Promise.resolve([{ id: "t", allowedAddresses: ["127.0.0.0/8"], digest: undefined }]),
        onCall: (call) => {
          if (call.dialedNumber !== "100") return call.refuse(486)
          void call.answer().then(play)
        }
      }
    })
  ),
  (server) => Effect.promise(server.close)
)

const play = (leg: PhoneLeg | undefined): void => {
  const tone = Int16Array.from({ length: 160 }, (_, i) => 6_000 * Math.sin(i / 3))
  const timer = setInterval(() => leg?.play(tone), 20)
  leg?.attach({
    onFrame: () => undefined,
    onEvent: () => undefined,
    onDigit: () => undefined,
    onClosed: () => clearInterval(timer)
  })
}

layer(live, { excludeTestServices: true })("sip", (it) => {
  it.effect("asks a trunk, places a call and reports how it went", () =>
    Effect.gen(function* () {
      const { ports } = yield* farSide
      const host = `127.0.0.1:${ports.udp}`
      assert.match(yield* runSip("check", host), /answered 200 in \d+ ms/)
      const said = yield* runSip("call", "--from", "+14155550100", `sip:100@${host}`)
      assert.match(said, /^answered; heard [1-9]\d*\.\d s, [1-9]\d*\.\d s of it loud\n/)
      for (const line of ["<-- INVITE", "200 OK -->", "<-- ACK", "(codec)"]) assert.include(said, line)
      const busy = yield* Effect.flip(runSip("call", `sip:200@${host}`))
      assert.include(busy.message, "busy, 486")
    }).pipe(Effect.scoped)
  )

  it.effect("shows its help, and says what is not there", () =>
    Effect.gen(function* () {
      yield* Effect.flatMap(Workspaces, (workspaces) => workspaces.ensure("default"))
      for (const words of [["check"], ["call", "a", "b"], ["dance", "x"]]) {
        const error = yield* Effect.flip(runSip(...words))
        assert.isTrue(CliError.isCliError(error) && error._tag === "ShowHelp", words.join(" "))
      }
      for (const [words, fault] of [
        [["trace", "session_x"], "there is no session session_x"],
        [["check", "+14155550188"], "there is no number +14155550188"],
        [["call", "somebody"], "URI must be"]
      ] as const) {
        const error = yield* Effect.flip(runSip(...words))
        assert.instanceOf(error, StartFault)
        assert.include(error.message, fault)
      }
    }).pipe(Effect.scoped)
  )
})
