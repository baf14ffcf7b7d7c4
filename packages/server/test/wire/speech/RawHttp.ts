// HTTP by hand, for what no client would send: bodies that lie about their length, stop, or are cut.
import { connect, type Socket } from "node:net"
import type { RunningService } from "../../../src/testing/RunningService.ts"

export interface RawAnswer {
  /** 0: the connection was closed without an answer. */
  readonly status: number
  readonly type: string | null
  readonly body: string
}

/** The head and whatever of the body is to be sent; `done` when the answer is whole or the connection is over. */
export const rawRequest = (
  service: RunningService,
  path: string,
  headers: Record<string, string>,
  body: Uint8Array | string = ""
): { readonly socket: Socket; readonly answer: Promise<RawAnswer> } => {
  const { hostname, port } = new URL(service.url)
  const socket = connect(Number(port), hostname)
  const all = { host: "localhost", connection: "close", ...headers }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`)
  socket.write(`${[`POST ${path} HTTP/1.1`, ...lines].join("\r\n")}\r\n\r\n`)
  socket.write(body)
  const pieces: Array<Buffer> = []
  socket.on("data", (piece: Buffer) => void pieces.push(piece))
  socket.on("error", () => undefined)
  const answer = new Promise<RawAnswer>((resolve) => {
    socket.once("close", () => {
      const [head = "", ...rest] = Buffer.concat(pieces).toString("latin1").split("\r\n\r\n")
      resolve({
        status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0),
        type: /^content-type: (.*)$/im.exec(head)?.[1]?.trim() ?? null,
        body: rest.join("\r\n\r\n")
      })
    })
  })
  return { socket, answer }
}
