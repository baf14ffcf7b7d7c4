// Connections: how many one address may hold, and what becomes of one that asks and never reads.
import { connect, type Socket } from "node:net"
import { setTimeout as rest } from "node:timers/promises"
import { describe, expect, it } from "vitest"
import { until, withServer } from "./SipTestServer.ts"

const connected = (port: number, from: string): Promise<Socket> =>
  new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: from })
    socket.on("error", () => undefined)
    socket.once("connect", () => resolve(socket))
  })

describe("connections", () => {
  it(
    "of one address are limited, those of others are not touched, and places come free",
    withServer(async (server) => {
      const port = server.sip.ports.tcp ?? 0
      const many = await Promise.all(Array.from({ length: 120 }, () => connected(port, "127.0.0.1")))
      const open = () => many.filter((socket) => !socket.destroyed).length
      for (const socket of many) socket.resume()
      await until(() => open() === 100, "not 100 are left")
      const other = await connected(port, "127.0.0.2")
      other.write("\r\n\r\n")
      let pong = ""
      other.on("data", (bytes) => (pong += bytes.toString()))
      await until(() => pong === "\r\n", "no pong")
      for (const socket of many) socket.destroy()
      await rest(50)
      const again = await connected(port, "127.0.0.1")
      again.resume()
      await rest(50)
      expect(again.destroyed).toBe(false)
      for (const socket of [other, again]) socket.destroy()
    })
  )

  it(
    "that ask and never read are closed before much is kept for them",
    withServer(async (server) => {
      const before = process.memoryUsage().rss
      const socket = await connected(server.sip.ports.tcp ?? 0, "127.0.0.1")
      socket.pause()
      const pings = Buffer.from("\r\n\r\n".repeat(15_000))
      const limit = performance.now() + 20_000
      while (!socket.destroyed && !socket.closed && performance.now() < limit) {
        await new Promise<void>((written) => socket.write(pings, () => written()))
        await rest(1)
      }
      expect(socket.destroyed).toBe(true)
      expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000)
    })
  )
})
