// Who is let in, what is refused before there is a call, and what the wires bear.
import { createHash } from "node:crypto"
import { connect } from "node:net"
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { both, bare, guarded, withServer, type SipTestServer, number, until, user, walled } from "./SipTestServer.ts"
import { type Heard, message, sdp, Talk, token } from "./SipPeer.ts"

const hash = (algorithm: string, text: string) =>
  createHash(algorithm === "MD5" ? "md5" : "sha256")
    .update(text)
    .digest("hex")

const nonceOf = (challenged: Heard): string => /nonce="([^"]+)"/.exec(challenged.header("www-authenticate"))?.[1] ?? ""

const digest = (
  nonce: string,
  { algorithm = "MD5", nc = "00000001", password = user.password, qop = true, username = user.username } = {}
): string => {
  const uri = `sip:${guarded}@127.0.0.1`
  const [secret, what] = [hash(algorithm, `${username}:parley:${password}`), hash(algorithm, `INVITE:${uri}`)]
  const response = hash(algorithm, `${secret}:${nonce}:${qop ? `${nc}:abc:auth:` : ""}${what}`)
  return [
    `Authorization: Digest username="${username}"`,
    `realm="parley"`,
    `nonce="${nonce}"`,
    `uri="${uri}"`,
    `response="${response}"`,
    `algorithm=${algorithm}`,
    ...(qop ? [`qop=auth, nc=${nc}, cnonce="abc"`] : [])
  ].join(", ")
}

const challenged = async (server: SipTestServer, to = guarded) => {
  const { peer, rtp, talk } = await server.caller("udp", to)
  const body = sdp(rtp.port)
  talk.request("INVITE", { body })
  const challenge = await talk.expect(401)
  talk.request("ACK", { branch: talk.inviteBranch })
  talk.theirTag = ""
  const answer = (headers: ReadonlyArray<string>) => {
    talk.theirTag = ""
    talk.request("INVITE", { body, headers })
  }
  return { peer, rtp, talk, challenge, nonce: nonceOf(challenge), answer }
}

describe("a number with a password", () => {
  it(
    "lets the caller hear us before the ACK: the challenge was answered from there",
    withServer(async (server) => {
      const { answer, nonce, rtp, talk } = await challenged(server)
      answer([digest(nonce)])
      await talk.expect(200)
      await until(() => rtp.packets > 3, "no sound")
      await talk.bye()
    })
  )

  it(
    "challenges with both algorithms, the stronger first",
    withServer(async (server) => {
      const { challenge } = await challenged(server)
      const offered = challenge.headers("www-authenticate").map((line) => /algorithm=([^,]+)/.exec(line)?.[1])
      expect(offered).toEqual(["SHA-256", "MD5"])
      expect(challenge.header("www-authenticate")).not.toContain("stale")
    })
  )

  it.each([
    ["MD5", true],
    ["SHA-256", true],
    ["MD5", false]
  ])("lets in who answers with %s (qop %s)", async (algorithm, qop) =>
    withServer(async (server) => {
      const { answer, nonce, talk } = await challenged(server)
      answer([digest(nonce, { algorithm, qop })])
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })()
  )

  it(
    "lets in who answers both challenges at once",
    withServer(async (server) => {
      const { answer, nonce, talk } = await challenged(server)
      answer([digest(nonce, { algorithm: "SHA-512-256" }), digest(nonce, { algorithm: "SHA-256" })])
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )

  it.each([
    ["password", { password: "wrong" }],
    ["name", { username: "somebody" }],
    ["algorithm", { algorithm: "SHA-512-256" }]
  ])("keeps out who has the wrong %s", async (_name, wrong) =>
    withServer(async (server) => {
      const { answer, nonce, talk } = await challenged(server)
      answer([digest(nonce, wrong)])
      const again = await talk.expect(401)
      expect(again.header("www-authenticate")).not.toContain("stale")
      expect(nonceOf(again)).not.toBe(nonce)
      expect(server.taken).toEqual([])
    })()
  )

  it(
    "says stale to a nonce of yesterday, and takes its successor",
    withServer(async (server) => {
      const { answer, nonce, talk } = await challenged(server)
      server.pass(61_000)
      answer([digest(nonce)])
      const again = await talk.expect(401)
      expect(again.header("www-authenticate")).toContain("stale=true")
      answer([digest(nonceOf(again))])
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )

  it(
    "does not take an answer that somebody overheard",
    withServer(async (server) => {
      const { answer, nonce, talk } = await challenged(server)
      answer([digest(nonce)])
      await talk.expect(200)
      talk.request("ACK")
      const thief = await server.caller("udp", guarded)
      thief.talk.request("INVITE", { body: sdp(thief.rtp.port), headers: [digest(nonce)] })
      await thief.talk.expect(401)
      thief.talk.theirTag = ""
      thief.talk.request("INVITE", { body: sdp(thief.rtp.port), headers: [digest(nonce, { nc: "00000002" })] })
      await thief.talk.expect(200)
      thief.talk.request("ACK")
      await thief.talk.bye()
      await talk.bye()
    })
  )

  it(
    "does not know a nonce that it never gave",
    withServer(async (server) => {
      const { answer, talk } = await challenged(server)
      answer([digest("made.up.nonce")])
      expect((await talk.expect(401)).header("www-authenticate")).toContain("stale=true")
    })
  )

  it(
    "and an address list wants both",
    withServer(async (server) => {
      const { answer, nonce, talk } = await challenged(server, both)
      answer([digest(nonce)])
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )
})

describe("a number", () => {
  it.each([
    ["with a list that the caller is not on", walled, 403],
    ["without any factor", bare, 403],
    ["that does not exist", "+15559999", 404]
  ])("%s is refused", async (_name, to, status) =>
    withServer(async (server) => {
      const { rtp, talk } = await server.caller("udp", to)
      talk.request("INVITE", { body: sdp(rtp.port) })
      await talk.expect(status)
      talk.request("ACK", { branch: talk.inviteBranch })
      expect(server.sipTraces.get(talk.callId)?.at(-1)?.what).toBe(String(status))
    })()
  )

  it.each(["sips:+15550100@127.0.0.1", "tel:+1-555-0100", "sip:%2B15550100@127.0.0.1"])("is found as %s", (target) =>
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.target = target
      await talk.connect({ body: sdp(rtp.port) })
      await talk.bye()
    })()
  )

  it(
    "whose trunk cannot be asked for is an error of ours",
    withServer(
      async (server) => {
        const { rtp, talk } = await server.caller()
        talk.request("INVITE", { body: sdp(rtp.port) })
        await talk.expect(500)
      },
      { handlers: { trunksOf: () => Promise.reject(new Error("the store is away")) } }
    )
  )
})

describe("a request outside of any call", () => {
  it.each<[string, string, ReadonlyArray<string>, string, number, string]>([
    ["REGISTER", number, [], "", 403, ""],
    ["SUBSCRIBE", number, ["Event: presence"], "", 489, ""],
    ["MESSAGE", number, [], "", 405, "INVITE"],
    ["PUBLISH", number, [], "", 405, "INVITE"],
    ["NOTIFY", number, ["Event: refer"], "", 405, ""],
    ["INFO", number, [], "", 405, ""],
    ["DANCE", number, [], "", 501, ""],
    ["BYE", number, [], "", 481, ""],
    ["CANCEL", number, [], "", 481, ""],
    ["PRACK", number, [], "", 481, ""],
    ["UPDATE", number, [], "", 481, ""],
    ["INVITE", number, ["Require: nobody-knows"], "", 420, ""],
    ["OPTIONS", number, ["Require: a, 100rel, b"], "", 420, ""],
    ["INVITE", number, ["Max-Forwards: 0"], "", 483, ""],
    ["INVITE", number, [], "http://example.com/", 416, ""],
    ["INVITE", number, [], "nobodyKnowsThisScheme:totallyopaque", 416, ""]
  ])("%s to %s with %j (%s) is answered %i", (method, to, headers, target, status, allow) =>
    withServer(async (server) => {
      const { talk } = await server.caller("udp", to)
      if (target !== "") talk.target = target
      const text = talk.request(method, { headers, kept: true })
      // The header that a test brings replaces the usual one.
      talk.peer.send(headers.some((line) => line.startsWith("Max-")) ? text.replace("Max-Forwards: 70\r\n", "") : text)
      const refused = await talk.expect(status, method)
      expect(refused.header("to")).toContain(";tag=")
      if (allow !== "") expect(refused.header("allow")).toContain(allow)
      if (status === 420) expect(refused.header("unsupported")).toBe(method === "INVITE" ? "nobody-knows" : "a, b")
    })()
  )

  it(
    "of another SIP is told so",
    withServer(async (server) => {
      const { talk } = await server.caller()
      talk.peer.send(talk.request("OPTIONS", { kept: true }).replace("SIP/2.0\r\n", "SIP/7.0\r\n"))
      await talk.expect(505, "OPTIONS")
    })
  )

  it(
    "inside of a call that is not ours is refused; an ACK is not answered",
    withServer(async (server) => {
      const { talk } = await server.caller()
      talk.theirTag = "unknown"
      talk.request("ACK", { cseq: 1 })
      talk.request("INFO")
      await talk.expect(481, "INFO")
      expect(talk.peer.log.filter((line) => line.startsWith("<")).length).toBe(1)
    })
  )

  it(
    "without a Contact is no INVITE",
    withServer(async (server) => {
      const { talk } = await server.caller()
      talk.peer.send(talk.request("INVITE", { kept: true }).replace(/Contact: .*\r\n/, ""))
      await talk.expect(400)
    })
  )
})

describe("a connection", () => {
  it(
    "brings messages in pieces",
    withServer(async (server) => {
      const { peer, rtp, talk } = await server.caller("tcp")
      const bytes = Buffer.from(talk.request("INVITE", { body: sdp(rtp.port), kept: true }))
      for (let at = 0; at < bytes.length; at += 97) {
        peer.socket?.write(bytes.subarray(at, at + 97))
        await rest(2)
      }
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )

  it(
    "brings several messages in one piece",
    withServer(async (server) => {
      const { peer } = await server.caller("tcp")
      const talks = [1, 2, 3].map(() => new Talk(peer, number))
      peer.socket?.write(talks.map((talk) => talk.request("OPTIONS", { kept: true })).join(""))
      for (const talk of talks) await talk.expect(200, "OPTIONS")
    })
  )

  it(
    "is pinged, and answers",
    withServer(async (server) => {
      const peer = await server.peer("tcp")
      peer.socket?.write("\r\n\r\n")
      await until(() => peer.log.includes("< pong"), "no pong")
    })
  )

  it.each([
    ["what is no SIP", Buffer.concat([Buffer.from("\x16\x03\x01\0"), Buffer.alloc(40_000, 7)])],
    ["a message without a length", Buffer.from("OPTIONS sip:a SIP/2.0\r\nVia: x\r\n\r\n")],
    ["a message of 70 kB", Buffer.from(`OPTIONS sip:a@b SIP/2.0\r\nContent-Length: 70000\r\n\r\n${"x".repeat(70_000)}`)]
  ])("that brings %s is closed, and the next is served", async (_name, bytes) =>
    withServer(async (server) => {
      const peer = await server.peer("tcp")
      peer.socket?.write(bytes)
      await until(() => !peer.connected, "it is still open")
      const next = new Talk(await server.peer("tcp"), number)
      next.request("OPTIONS")
      await next.expect(200, "OPTIONS")
    })()
  )

  it(
    "that breaks leaves its call to the far side's new one",
    withServer(async (server) => {
      const { peer, rtp, talk } = await server.caller("tcp")
      await talk.connect({ body: sdp(rtp.port) })
      peer.close()
      const anew = await server.peer("tcp")
      Object.assign(talk, { peer: anew })
      talk.request("INVITE", { body: sdp(rtp.port, "sendrecv", 0, 2) })
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )

  it(
    "is refused to nobody because others opened theirs and said nothing",
    withServer(async (server) => {
      const idle = Array.from({ length: 50 }, () => connect(server.port, "127.0.0.1").on("error", () => undefined))
      const talk = new Talk(await server.peer("tcp"), number)
      talk.request("OPTIONS")
      await talk.expect(200, "OPTIONS")
      for (const socket of idle) socket.destroy()
    })
  )
})

describe("datagrams", () => {
  it(
    "that are no SIP are dropped, and the next is served",
    withServer(async (server) => {
      const { peer, talk } = await server.caller()
      for (const junk of ["", "\r\n\r\n", "\0\0\0\0", "hello", "INVITE", "\uffff\uffff", "SIP/2.0 200 OK\r\n\r\n"])
        peer.send(junk)
      talk.request("OPTIONS")
      await talk.expect(200, "OPTIONS")
      expect(peer.log.filter((line) => line.startsWith("<")).length).toBe(1)
    })
  )

  it(
    "of the longest kind are taken",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      talk.request("INVITE", { body: sdp(rtp.port), headers: [`X-Long: ${"y".repeat(58_000)}`] })
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )

  it(
    "whose body is shorter than they say are refused; longer ones are cut",
    withServer(async (server) => {
      const { rtp, talk } = await server.caller()
      const short = talk.request("INVITE", { body: sdp(rtp.port), kept: true })
      talk.peer.send(short.replace(/Content-Length: \d+/, "Content-Length: 9999"))
      await talk.expect(400)
      talk.theirTag = ""
      talk.peer.send(`${talk.request("INVITE", { body: sdp(rtp.port), kept: true })}and more that nobody asked for`)
      await talk.expect(200)
      talk.request("ACK")
      await talk.bye()
    })
  )

  it(
    "of a response that answers nothing are dropped",
    withServer(async (server) => {
      const { peer, rtp, talk } = await server.caller()
      await talk.connect({ body: sdp(rtp.port) })
      peer.send(
        message("SIP/2.0 200 OK", [
          `Via: SIP/2.0/UDP 127.0.0.1:${server.port};branch=z9hG4bK${token()}`,
          `From: ${talk.theirUri};tag=${talk.theirTag}`,
          `To: ${talk.ourUri};tag=${talk.ourTag}`,
          `Call-ID: ${talk.callId}`,
          "CSeq: 1 BYE"
        ])
      )
      await rest(50)
      expect(server.sip.count()).toBe(1)
      await talk.bye()
    })
  )
})

describe("two SIP servers", () => {
  it(
    "call each other with a password over TCP, and speak",
    withServer(async (server) => {
      const { Redacted } = await import("effect")
      const dialling = server.sip.dial({
        trunk: {
          uri: `127.0.0.1:${server.sip.ports.tcp}`,
          transport: "tcp",
          credentials: { username: user.username, password: Redacted.make(user.password) }
        },
        from: number,
        to: guarded,
        headers: {},
        ringSeconds: 5
      })
      const outcome = await dialling.outcome
      // One server has one table: its own call comes back under the same Call-ID and is a loop.
      expect(outcome).toMatchObject({ status: "failed", sipStatus: 482 })
    })
  )
})
