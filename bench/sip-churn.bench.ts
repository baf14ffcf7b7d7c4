// Calls come and go at the SIP server: how long from INVITE to 200, and what ten thousand of them leave behind
// once what they answer repeats for is over. The caller is a process of its own.
import { makeSipServer } from "@parley/transport/sip/SipServer"
import { fork } from "node:child_process"
import { createSocket } from "node:dgram"
import { once } from "node:events"
import { setTimeout as rest } from "node:timers/promises"
import { report } from "./report.ts"

const calls = Number(process.env["CALLS"] ?? 10_000)
const atOnce = 10
const warmUp = 500

const message = (
  method: string,
  name: string,
  to: string,
  port: number,
  serverPort: number,
  cseq: number,
  body = ""
): string =>
  [
    `${method} sip:+15550100@127.0.0.1:${serverPort} SIP/2.0`,
    `Via: SIP/2.0/UDP 127.0.0.1:${port};rport;branch=z9hG4bK${name}${method}`,
    `From: <sip:+15550199@127.0.0.1>;tag=${name}`,
    `To: <sip:+15550100@127.0.0.1>${to}`,
    `Call-ID: ${name}@bench`,
    `CSeq: ${cseq} ${method}`,
    `Contact: <sip:bench@127.0.0.1:${port}>`,
    "Max-Forwards: 70",
    ...(body === "" ? [] : ["Content-Type: application/sdp"]),
    `Content-Length: ${body.length}`,
    "",
    body
  ].join("\r\n")

const callAll = async (serverPort: number, count: number): Promise<ReadonlyArray<number>> => {
  const socket = createSocket("udp4")
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
  const { port } = socket.address()
  const waiting = new Map<string, (text: string) => void>()
  socket.on("message", (bytes) => {
    const text = bytes.toString()
    if (!text.startsWith("SIP/2.0 200")) return
    const key = `${/^Call-ID: (\S+)@/im.exec(text)?.[1]} ${/^CSeq: \d+ (\S+)/im.exec(text)?.[1]}`
    waiting.get(key)?.(text)
    waiting.delete(key)
  })
  const ask = (name: string, method: string, text: string): Promise<string> =>
    new Promise((resolve) => {
      const again = setInterval(() => socket.send(text, serverPort, "127.0.0.1"), 500)
      waiting.set(`${name} ${method}`, (answer) => {
        clearInterval(again)
        resolve(answer)
      })
      socket.send(text, serverPort, "127.0.0.1")
    })
  const body = "v=0\r\no=- 1 1 IN IP4 127.0.0.1\r\ns=-\r\nc=IN IP4 127.0.0.1\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\n"
  const took: Array<number> = []
  let next = 0
  const caller = async (): Promise<void> => {
    while (next < count) {
      const name = `c${next++}x${port}`
      const beganMs = performance.now()
      const ok = await ask(name, "INVITE", message("INVITE", name, "", port, serverPort, 1, body))
      took.push(performance.now() - beganMs)
      const tag = /^To:.*(;tag=\S+)/im.exec(ok)?.[1] ?? ""
      socket.send(message("ACK", name, tag, port, serverPort, 1), serverPort, "127.0.0.1")
      await ask(name, "BYE", message("BYE", name, tag, port, serverPort, 2))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, caller))
  socket.close()
  return took
}

const handles = (): number => process.getActiveResourcesInfo().filter((kind) => /UDP|TCP/.test(kind)).length

const [role, port] = process.argv.slice(2)
if (role === "caller") {
  process.on("message", async (count: number) => process.send?.(await callAll(Number(port), count)))
} else {
  const server = await makeSipServer({
    network: {
      host: "127.0.0.1",
      port: 0,
      tls: undefined,
      publicAddress: undefined,
      rtpPorts: undefined
    },
    mayReach: () => true,
    userAgent: "Parley",
    handlers: {
      trunksOf: async () => [{ id: "bench", allowedAddresses: ["127.0.0.1"], digest: undefined }],
      onCall: (call) => void call.answer()
    }
  })
  const peer = fork(import.meta.filename, ["caller", String(server.ports.udp)])
  const run = async (count: number): Promise<ReadonlyArray<number>> => {
    peer.send(count)
    const [took] = (await once(peer, "message")) as [ReadonlyArray<number>]
    return took
  }
  // Longer than a finished call answers repeats for.
  const settled = async (): Promise<{ readonly heap: number; readonly handles: number }> => {
    await rest(38_000)
    globalThis.gc?.()
    return { heap: process.memoryUsage().heapUsed, handles: handles() }
  }
  await run(warmUp)
  const before = await settled()
  const beganMs = performance.now()
  const took = await run(calls)
  const seconds = (performance.now() - beganMs) / 1000
  const after = await settled()
  console.log(`${calls} calls in ${seconds.toFixed(1)} s, ${atOnce} at a time; left: ${server.count()}`)
  console.log(
    `heap ${(before.heap / 1e6).toFixed(1)} -> ${(after.heap / 1e6).toFixed(1)} MB, handles ${before.handles} -> ${after.handles}`
  )
  report(
    "sip-churn",
    [{ what: "INVITE to 200", unit: "ms", values: took, target: "<= 60 p95, greeting included" }],
    [{ calls, seconds, before, after }]
  )
  peer.kill()
  await server.close()
  process.exit(after.handles === before.handles && server.count() === 0 ? 0 : 1)
}
