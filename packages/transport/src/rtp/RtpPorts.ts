// A pair of UDP ports for a call: RTP on the even one, RTCP on the next (RFC 3550, 11).
import { randomInt } from "node:crypto"
import { createSocket, type Socket } from "node:dgram"

/** Two bound UDP sockets: `port` for RTP, the next one for RTCP. */
export interface RtpPorts {
  readonly rtp: Socket
  readonly rtcp: Socket
  readonly port: number
}

const tries = 200

/** A pair that nobody can foresee. Rejects when none is free. */
export const openPorts = async (
  bind: string,
  range: readonly [min: number, max: number] | undefined
): Promise<RtpPorts> => {
  const [min, max] = range ?? [20_000, 59_998]
  const pairs = Math.floor((max - (min + (min & 1)) + 1) / 2)
  const first = randomInt(Math.max(1, pairs))
  for (let i = 0; i < Math.min(tries, pairs); i++) {
    const port = min + (min & 1) + 2 * ((first + i) % pairs)
    const rtp = await bound(bind, port)
    if (rtp === undefined) continue
    const rtcp = await bound(bind, port + 1)
    if (rtcp !== undefined) return { rtp, rtcp, port }
    rtp.close()
  }
  throw new Error("no free pair of RTP ports")
}

/** Undefined when the port is taken. */
const bound = (address: string, port: number): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const family = address.includes(":") ? 6 : 4
    const socket = createSocket({
      type: family === 6 ? "udp6" : "udp4",
      // Only addresses are sent to: nothing is looked up.
      lookup: (host, _options, done) => done(null, host, family)
    })
    socket.once("error", () => {
      socket.close()
      resolve(undefined)
    })
    socket.bind(port, address, () => {
      socket.removeAllListeners("error")
      // What cannot be sent is lost, as on any network.
      socket.on("error", () => undefined)
      resolve(socket)
    })
  })
