// sipp calls the server and is called by it, over UDP and TCP, and over a road that loses every fifth packet.
import { createSocket } from "node:dgram"
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { withServer, number, until, type SipTestServer, type Taken } from "./SipTestServer.ts"
import { got, gotOf, hasSipp, held, inviteSdp, lossyRoad, pause, replied, repliedInDialog, sent, sipp } from "./sipp.ts"

const freePort = async (): Promise<number> => {
  const socket = createSocket("udp4")
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
  const { port } = socket.address()
  await new Promise<void>((done) => socket.close(() => done()))
  return port
}

const opening = (sdp = inviteSdp, extra = ""): string =>
  [
    sent("INVITE", { cseq: 1, sdp, tagged: false, extra }),
    got(100, true),
    got(180, true),
    got(183, true),
    got(200),
    sent("ACK", { cseq: 1, ack: true })
  ].join("\n")

const bye = (cseq: number): string => `${sent("BYE", { cseq, transaction: "bye" })}\n${gotOf("bye", 200)}`

const scenarios: ReadonlyArray<readonly [string, string]> = [
  ["calls, speaks and says BYE", `${opening()}${pause(200)}${bye(2)}`],
  [
    "calls without an offer and answers ours in the ACK",
    [
      sent("INVITE", { cseq: 1, tagged: false }),
      got(100, true),
      got(180, true),
      got(200),
      sent("ACK", { cseq: 1, ack: true, sdp: inviteSdp }),
      pause(100),
      bye(2)
    ].join("\n")
  ],
  [
    "holds and resumes",
    [
      opening(),
      sent("INVITE", { cseq: 2, sdp: held }),
      got(100, true),
      got(200),
      sent("ACK", { cseq: 2, ack: true }),
      pause(100),
      sent("INVITE", { cseq: 3, sdp: inviteSdp }),
      got(100, true),
      got(200),
      sent("ACK", { cseq: 3, ack: true }),
      bye(4)
    ].join("\n")
  ],
  [
    "asks, presses a key and is refused a transfer",
    [
      opening(),
      sent("OPTIONS", { cseq: 2 }),
      got(200),
      sent("INFO", { cseq: 3, sdp: "\n      Signal=5\n      Duration=160" }).replace(
        "application/sdp",
        "application/dtmf-relay"
      ),
      got(200),
      sent("REFER", { cseq: 4, extra: "Refer-To: <sip:x@127.0.0.1>" }),
      got(603),
      bye(5)
    ].join("\n")
  ],
  [
    "keeps its session with a timer",
    `${opening(inviteSdp, "Session-Expires: 90;refresher=uac\n      Supported: timer")}${bye(2)}`
  ]
]

describe.skipIf(!hasSipp).each(["udp", "tcp"] as const)("sipp over %s", (way) => {
  it.each(scenarios)("%s", (_name, scenario) =>
    withServer(async (server) => {
      const { code, output } = await sipp(scenario, `127.0.0.1:${server.port}`, { way }).done
      expect(code, output).toBe(0)
      await until(() => server.taken[0]?.closed.length === 1, "the leg was not told")
    })()
  )

  it("gives up while it rings", () =>
    withServer(
      async (server) => {
        const scenario = [
          sent("INVITE", { cseq: 1, sdp: inviteSdp, tagged: false, branch: "z9hG4bK[call_number]x" }),
          got(100, true),
          got(180),
          sent("CANCEL", { cseq: 1, tagged: false, branch: "z9hG4bK[call_number]x" }),
          got(200),
          got(487),
          sent("ACK", { cseq: 1, ack: true, branch: "z9hG4bK[call_number]x" })
        ].join("\n")
        const { code, output } = await sipp(scenario, `127.0.0.1:${server.port}`, { way }).done
        expect(code, output).toBe(0)
      },
      {},
      (call) => call.ring()
    )())

  it("is called, answers, and is hung up on", () =>
    withServer(async (server) => {
      const port = await freePort()
      const scenario = [
        '<recv request="INVITE"/>',
        replied("180 Ringing"),
        replied("200 OK", { sdp: inviteSdp }),
        '<recv request="ACK"/>',
        '<recv request="BYE"/>',
        repliedInDialog
      ].join("\n")
      const peer = sipp(scenario, "", { port, way })
      const outcome = await patient(server, port, way)
      expect(outcome.status).toBe("answered")
      if (outcome.status === "answered") outcome.leg.close("agent_hangup")
      const { code, output } = await peer.done
      expect(code, output).toBe(0)
    })())

  it("is called and is busy", () =>
    withServer(async (server) => {
      const port = await freePort()
      const scenario = ['<recv request="INVITE"/>', replied("486 Busy Here"), '<recv request="ACK"/>'].join("\n")
      const peer = sipp(scenario, "", { port, way })
      const outcome = await patient(server, port, way)
      expect(outcome).toMatchObject({ status: "busy", sipStatus: 486 })
      const { code, output } = await peer.done
      expect(code, output).toBe(0)
    })())
})

/** sipp needs a moment before it listens on TCP. */
const patient = async (server: SipTestServer, port: number, way: "udp" | "tcp") => {
  for (let tries = 0; ; tries++) {
    const outcome = await server.sip.dial({
      trunk: { uri: `127.0.0.1:${port}`, transport: way, credentials: undefined },
      from: number,
      to: "+15550177",
      headers: {},
      ringSeconds: 10
    }).outcome
    if (outcome.status !== "failed" || outcome.sipStatus !== null || tries > 40) return outcome
    await rest(100)
  }
}

describe.skipIf(!hasSipp)("a road that loses every fifth packet each way", () => {
  const calls = 20

  it(
    `bears ${calls} calls that come in, each with its BYE`,
    withServer(async (server) => {
      const road = await lossyRoad(() => server.port, 0.2)
      try {
        const { code, output } = await sipp(`${opening()}${pause(100)}${bye(2)}`, `127.0.0.1:${road.nearPort}`, {
          calls
        }).done
        expect(code, output).toBe(0)
        expect(road.counts.dropped).toBeGreaterThan(10)
        // Where the BYE came and the ACK did not, there was no leg yet.
        const legs = (): ReadonlyArray<Taken> => server.taken.filter(({ leg }) => leg !== undefined)
        await until(() => legs().every(({ closed }) => closed.length === 1), "a leg was not told").catch(
          (error: unknown) => {
            const silent = legs().filter(({ closed }) => closed.length !== 1)
            throw new Error(JSON.stringify(silent.map(({ leg }) => leg?.sipTrace())), { cause: error })
          }
        )
        expect(server.taken.length).toBe(calls)
        expect(new Set(legs().map(({ closed }) => closed[0]))).toEqual(new Set(["left"]))
      } finally {
        road.close()
      }
    }),
    60_000
  )

  it(
    `bears ${calls} calls that are placed, each with its BYE`,
    withServer(
      async (server) => {
        const port = await freePort()
        const road = await lossyRoad(() => port, 0.2)
        const scenario = [
          '<recv request="INVITE"/>',
          replied("180 Ringing", { contact: `127.0.0.1:${road.nearPort}` }),
          replied("200 OK", { contact: `127.0.0.1:${road.nearPort}`, sdp: inviteSdp }),
          // Lost with the call hung up at once, it is not missed.
          '<recv request="ACK" optional="true"/>',
          '<recv request="BYE"/>',
          repliedInDialog,
          // Retransmissions of the BYE are answered too.
          '<timewait milliseconds="6000"/>'
        ].join("\n")
        const peer = sipp(scenario, "", { port, calls })
        try {
          await rest(300)
          const outcomes = await Promise.all(
            Array.from({ length: calls }, async () => {
              const { outcome } = server.sip.dial({
                trunk: { uri: `127.0.0.1:${road.nearPort}`, transport: "udp", credentials: undefined },
                from: number,
                to: "+15550177",
                headers: {},
                ringSeconds: 30
              })
              const came = await outcome
              if (came.status === "answered") came.leg.close("agent_hangup")
              return came.status
            })
          )
          expect(outcomes).toEqual(Array.from({ length: calls }, () => "answered"))
          const { code, output } = await peer.done
          expect(code, output).toBe(0)
          expect(road.counts.dropped).toBeGreaterThan(10)
        } finally {
          peer.stop()
          road.close()
        }
      },
      { timings: { deadMs: 20_000 } }
    ),
    60_000
  )
})
