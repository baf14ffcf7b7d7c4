// baresip calls the server and is called by it: over UDP, TCP and TLS, in every codec, with keys both ways and on hold.
import { spawnSync } from "node:child_process"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { Baresip, type BaresipOptions, hasBaresip } from "./Baresip.ts"
import { guarded, type SipTestServer, withServer, number, until, user } from "./SipTestServer.ts"

/** For 127.0.0.1, signed by itself. */
const selfSigned = (): { readonly certificate: string; readonly key: string } => {
  const folder = mkdtempSync(join(tmpdir(), "parley-cert-"))
  try {
    const made = spawnSync("openssl", [
      "req",
      ..."-x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1".split(" "),
      "-keyout",
      join(folder, "key"),
      "-out",
      join(folder, "cert")
    ])
    if (made.status !== 0) throw new Error(String(made.stderr))
    return { certificate: readFileSync(join(folder, "cert"), "utf8"), key: readFileSync(join(folder, "key"), "utf8") }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const identity = hasBaresip ? selfSigned() : { certificate: "", key: "" }
const overTls = { network: { tls: { port: 0, ...identity }, authorities: identity.certificate } }

const withPhone = (options: BaresipOptions, act: (server: SipTestServer, phone: Baresip) => Promise<void>) =>
  withServer(async (server) => {
    const phone = await Baresip.start({ certificate: `${identity.certificate}${identity.key}`, ...options })
    try {
      await act(server, phone)
    } finally {
      await phone.stop()
    }
  }, overTls)

const uriOf = (server: SipTestServer, transport: BaresipOptions["transport"], to = number): string =>
  `sip:${to}@127.0.0.1:${server.sip.ports[transport]}`

const hears = async (server: SipTestServer, phone: Baresip): Promise<void> => {
  await phone.until("CALL_ESTABLISHED")
  await until(() => (server.taken[0]?.loud ?? 0) > 10, `its tone is not heard\n${phone.output}`)
}

const ways: ReadonlyArray<BaresipOptions> = [
  { transport: "udp", codec: "PCMU/8000/1" },
  { transport: "udp", codec: "PCMA/8000/1" },
  { transport: "udp", codec: "opus/48000/2" },
  { transport: "tcp", codec: "PCMA/8000/1" },
  { transport: "tls", codec: "PCMU/8000/1" },
  { transport: "tls", codec: "PCMU/8000/1", secure: true },
  { transport: "tls", codec: "opus/48000/2", secure: true }
]

describe.skipIf(!hasBaresip)("baresip", () => {
  it.each(ways)("calls: $transport, $codec, SRTP $secure", (options) =>
    withPhone(options, async (server, phone) => {
      phone.tell("dial", uriOf(server, options.transport))
      await hears(server, phone)
      phone.tell("hangup")
      await until(() => server.taken[0]?.closed[0] === "left", "its BYE did not come")
    })()
  )

  it.each(ways.filter(({ transport, secure }) => transport !== "tls" || secure === true))(
    "is called: $transport, $codec, SRTP $secure",
    (options) =>
      withPhone(options, async (server, phone) => {
        const outcome = await server.sip.dial({
          trunk: { uri: `127.0.0.1:${phone.port}`, transport: options.transport, credentials: undefined },
          from: number,
          to: "+15550199",
          headers: {},
          ringSeconds: 10
        }).outcome
        expect(outcome.status, phone.output).toBe("answered")
        if (outcome.status === "answered") server.adopt(outcome.leg)
        await hears(server, phone)
        server.taken[0]?.leg?.close("agent_hangup")
        await phone.until("CALL_CLOSED")
      })()
  )

  it(
    "answers our challenge",
    withPhone(
      { transport: "udp", codec: "PCMU/8000/1", authUser: user.username, authPassword: user.password },
      async (server, phone) => {
        // This one gives up where another algorithm than MD5 is offered; the next time it is asked for MD5 alone.
        phone.tell("dial", uriOf(server, "udp", guarded))
        await phone.until("CALL_CLOSED")
        phone.tell("dial", uriOf(server, "udp", guarded))
        await hears(server, phone)
        phone.tell("hangup")
        await until(() => server.taken[0]?.closed[0] === "left", "its BYE did not come")
      }
    )
  )

  it(
    "presses keys, and hears ours",
    withPhone({ transport: "udp", codec: "PCMU/8000/1" }, async (server, phone) => {
      phone.tell("dial", uriOf(server, "udp"))
      await hears(server, phone)
      for (const key of ["4", "9", "#"]) {
        phone.tell("sndcode", key)
        await until(() => server.taken[0]?.digits.at(-1) === key, `key ${key} is not heard`)
        // Let go of it.
        phone.tell("sndcode", "\u0000")
      }
      expect(server.taken[0]?.digits).toEqual(["4", "9", "#"])
      server.taken[0]?.leg?.telephone.sendDigits("17*")
      await until(
        () => phone.events.filter(({ type }) => type === "CALL_DTMF_START").length >= 3,
        `our keys are not heard: ${JSON.stringify(phone.events)}`
      )
      const keys = phone.events.filter(({ type }) => type === "CALL_DTMF_START").map(({ param }) => param)
      expect(keys.join("")).toBe("17*")
      phone.tell("hangup")
      await until(() => server.taken[0]?.closed[0] === "left", "its BYE did not come")
    })
  )

  it(
    "holds and resumes",
    withPhone({ transport: "udp", codec: "PCMU/8000/1" }, async (server, phone) => {
      phone.tell("dial", uriOf(server, "udp"))
      await hears(server, phone)
      const media = () =>
        server.taken[0]?.leg
          ?.sipTrace()
          .filter(({ what }) => what === "media")
          .map(({ detail }) => detail)
      phone.tell("hold")
      await until(() => media()?.at(-1) === "recvonly", "it does not hold")
      phone.tell("resume")
      await until(() => media()?.at(-1) === "sendrecv", "it does not resume")
      phone.tell("hangup")
      await until(() => server.taken[0]?.closed[0] === "left", "its BYE did not come")
    })
  )

  it(
    "is not called over TLS when nobody vouches for it",
    withServer(async (server) => {
      const stranger = selfSigned()
      const phone = await Baresip.start({
        transport: "tls",
        codec: "PCMU/8000/1",
        certificate: `${stranger.certificate}${stranger.key}`
      })
      try {
        const { outcome } = server.sip.dial({
          trunk: { uri: `127.0.0.1:${phone.port}`, transport: "tls", credentials: undefined },
          from: number,
          to: "+15550199",
          headers: {},
          ringSeconds: 5
        })
        expect(await outcome).toMatchObject({ status: "failed", sipStatus: null })
        expect(phone.events.filter(({ type }) => type === "CALL_INCOMING")).toEqual([])
      } finally {
        await phone.stop()
      }
    }, overTls)
  )
})
