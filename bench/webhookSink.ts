// An endpoint that takes every webhook and says 204, in a process of its own: tells its parent when the first and the
// last of so many came, in milliseconds.
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

let expected = 0
let seen = 0
let first = 0
const server = createServer((request, response) => {
  request.resume()
  request.on("end", () => {
    if (seen++ === 0) first = performance.now()
    response.writeHead(204).end()
    if (seen === expected) process.send?.({ ms: performance.now() - first })
  })
})
process.on("message", ({ expect }: { expect: number }) => {
  expected = expect
  seen = 0
})
process.on("disconnect", () => process.exit(0))
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` })
})
