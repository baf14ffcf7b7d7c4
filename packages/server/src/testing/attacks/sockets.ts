// Attacks on speech sockets, without a key and with one.
import { encode } from "@msgpack/msgpack"
import { once } from "node:events"
import { WebSocket } from "ws"
import { type Attack, isStall, pause, type Target } from "./Target.ts"

const mebibyte = 2 ** 20
const spokenPath = "/compat/elevenlabs/v1/text-to-speech/default/stream-input?output_format=pcm_16000"

const open = async ({ service }: Target, path: string, headers: Record<string, string>): Promise<WebSocket> => {
  const ws = new WebSocket(service.url.replace(/^http/, "ws") + path, { headers })
  ws.on("error", () => undefined)
  await Promise.race([once(ws, "open"), once(ws, "close"), once(ws, "unexpected-response")])
  return ws
}

const closed = async (ws: WebSocket): Promise<void> => {
  if (ws.readyState !== WebSocket.CLOSED) await Promise.race([once(ws, "close"), pause(15_000)])
}

const unfinishedFrames: Attack = {
  name: "unfinished frames of 31 MiB on sockets without a key",
  run: async (target, strength) => {
    const { grownMiB, longestMs } = await target.watch(async () => {
      const sockets = await Promise.all(
        Array.from({ length: 8 * strength }, (_, i) => open(target, spokenPath, { "x-forwarded-for": `192.0.2.${i}` }))
      )
      const piece = Buffer.alloc(mebibyte, "a")
      for (const ws of sockets) {
        for (let sent = 0; sent < 31 && ws.readyState === WebSocket.OPEN; sent++) ws.send(piece, { fin: false })
      }
      await Promise.all(sockets.map(closed))
    })
    return {
      figure: `${grownMiB} MiB more, others waited ${longestMs} ms`,
      faults: grownMiB > 100 ? [`${grownMiB} MiB held for sockets without a key`] : []
    }
  }
}

const nestedFrame: Attack = {
  name: "a frame of nested lists on a socket without a key",
  run: async (target, strength) => {
    const { grownMiB, longestMs } = await target.watch(async () => {
      for (let i = 0; i < 4 * strength; i++) {
        const ws = await open(target, spokenPath, { "x-forwarded-for": `192.0.3.${i}` })
        ws.send("[".repeat(i % 2 === 0 ? 16_000 : 31 * mebibyte))
        await closed(ws)
      }
    })
    return {
      figure: `others waited ${longestMs} ms, ${grownMiB} MiB more`,
      faults: isStall(longestMs, strength) ? [`others waited ${longestMs} ms`] : []
    }
  }
}

const manySockets: Attack = {
  name: "2,000 sockets without a key",
  run: async (target, strength) => {
    const count = strength === 1 ? 200 : 2_000
    const sockets: Array<WebSocket> = []
    for (let i = 0; i < count; i++) {
      sockets.push(await open(target, spokenPath, { "x-forwarded-for": `198.51.${Math.floor(i / 100)}.1` }))
    }
    const accepted = sockets.filter(({ readyState }) => readyState === WebSocket.OPEN).length
    for (const ws of sockets) ws.terminate()
    const most = Math.min(1_024, 32 * Math.ceil(count / 100))
    return {
      figure: `${accepted} of ${count} accepted`,
      faults: accepted > most ? [`${accepted} sockets without a key, at most ${most} allowed`] : []
    }
  }
}

const unreadFrames: Attack = {
  name: "frames that nobody takes on a socket with a key",
  run: async (target) => {
    const { grownMiB, longestMs } = await target.watch(async () => {
      const ws = await open(target, "/v1/tts/live", { authorization: `Bearer ${target.service.key}` })
      ws.send(encode({ event: "start", request: { text: "", format: "pcm", sample_rate: 8000 } }))
      // Taken one after the other while their phrases are spoken; what follows has to wait with the client.
      const spoken = encode({ event: "text", text: "Hello there. ".repeat(50_000) })
      for (let i = 0; i < 20; i++) ws.send(spoken)
      const large = encode({ event: "flush", more: new Uint8Array(6 * mebibyte) })
      for (let i = 0; i < 64; i++) ws.send(large)
      await pause(3_000)
      ws.terminate()
    })
    return {
      figure: `${grownMiB} MiB more, others waited ${longestMs} ms`,
      faults: grownMiB > 200 ? [`${grownMiB} MiB held for one socket`] : []
    }
  }
}

export const socketAttacks: ReadonlyArray<Attack> = [unfinishedFrames, nestedFrame, manySockets, unreadFrames]
