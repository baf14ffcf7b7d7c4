// A TCP proxy before a service that can be closed and opened again: how a connection drops in a test.
import { once } from "node:events"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"

export interface Proxy {
  readonly url: string
  /** Cuts every connection and refuses new ones, until opened. */
  readonly shut: () => void
  readonly open: () => void
  readonly close: () => void
}

export const startProxy = async (service: string): Promise<Proxy> => {
  const sockets = new Set<Socket>()
  let isOpen = true
  const keep = (socket: Socket): void => {
    sockets.add(socket)
    socket.on("error", () => socket.destroy())
    socket.on("close", () => sockets.delete(socket))
  }
  const server = createServer((near) => {
    keep(near)
    if (!isOpen) return void near.destroy()
    const far = connect(Number(new URL(service).port), "127.0.0.1")
    keep(far)
    near.pipe(far).pipe(near)
    near.on("close", () => far.destroy())
    far.on("close", () => near.destroy())
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const shut = (): void => {
    isOpen = false
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    shut,
    open: () => {
      isOpen = true
    },
    close: () => {
      shut()
      server.close()
    }
  }
}
