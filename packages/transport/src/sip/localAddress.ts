// Our own address as a far side sees it before any NAT: the one the system would send from.
import { createSocket } from "node:dgram"

const known = new Map<string, string>()
const mostKnown = 1_000

/** The bound address itself when it is one; the route's otherwise. */
export const localAddress = async (bound: string, remote: string): Promise<string> => {
  if (bound !== "0.0.0.0" && bound !== "::") return bound
  const cached = known.get(remote)
  if (cached !== undefined) return cached
  const found = await new Promise<string>((resolve) => {
    const socket = createSocket(remote.includes(":") ? "udp6" : "udp4")
    const done = (address: string): void => {
      socket.close()
      resolve(address)
    }
    socket.once("error", () => done("127.0.0.1"))
    // Nothing is sent: connecting a UDP socket only asks the routing table.
    socket.connect(9, remote, () => done(socket.address().address))
  })
  if (known.size >= mostKnown) known.clear()
  known.set(remote, found)
  return found
}
