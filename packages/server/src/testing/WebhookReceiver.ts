// A customer's endpoints on loopback: keep every delivery in the order it came, check its signature, and refuse some
// at first. For tests of what is delivered, in which order and how often.
import { createHmac } from "node:crypto"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

export interface Delivery {
  /** Path of the endpoint. */
  readonly endpoint: string
  readonly id: string
  readonly event: string
  readonly sessionId: string
  readonly body: string
  readonly status: number
}

export interface WebhookReceiver {
  readonly url: string
  readonly deliveries: ReadonlyArray<Delivery>
  /** What was wrong with any of them. */
  readonly faults: ReadonlyArray<string>
  readonly close: () => void
}

/** @param refuse asked once for each delivery: whether its first attempt is answered with 500. */
export const listenForWebhooks = async (
  secret: string,
  refuse: (endpoint: string) => boolean = () => false
): Promise<WebhookReceiver> => {
  const deliveries: Array<Delivery> = []
  const faults: Array<string> = []
  const seen = new Map<string, string>()
  const server = createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => void pieces.push(piece))
    request.on("end", () => {
      const body = Buffer.concat(pieces).toString()
      const endpoint = request.url ?? ""
      const header = (name: string) =>
        String(Object.entries(request.headers).find(([key]) => key.endsWith(`webhook-${name}`))?.[1] ?? "")
      const id = header("id")
      if (!isSigned(header("signature"), body, secret)) faults.push(`${endpoint} ${id}: its signature is wrong`)
      const told = JSON.parse(body) as { readonly event: string; readonly session: { readonly id: string } }
      const before = seen.get(id)
      if (before !== undefined && before !== body) faults.push(`${endpoint} ${id}: other bytes than before`)
      const status = before === undefined && refuse(endpoint) ? 500 : 200
      seen.set(id, body)
      deliveries.push({ endpoint, id, event: told.event, sessionId: told.session.id, body, status })
      response.writeHead(status).end()
    })
  })
  await new Promise<void>((ready) => void server.listen(0, "127.0.0.1", ready))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, deliveries, faults, close: () => void server.close().closeAllConnections() }
}

const isSigned = (signature: string, body: string, secret: string): boolean => {
  const [, t = "", v1 = ""] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(signature) ?? []
  const fresh = Math.abs(Date.now() / 1000 - Number(t)) < 300
  return fresh && v1 === createHmac("sha256", secret).update(`${t}.${body}`).digest("hex")
}
