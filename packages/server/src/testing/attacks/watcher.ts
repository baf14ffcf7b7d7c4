// Asks for an address again and again in a thread of its own, where the attackers' work does not delay it, and tells how long
// the longest answer took.
import { Agent, get } from "node:http"
import { parentPort, workerData } from "node:worker_threads"

const url = String(workerData)
const agent = new Agent({ keepAlive: true })
let longestMs = 0

const ask = (): void => {
  const began = performance.now()
  get(url, { agent }, (response) => {
    response.resume()
    response.once("end", () => {
      longestMs = Math.max(longestMs, performance.now() - began)
      setTimeout(ask, 10)
    })
  }).once("error", () => {
    longestMs = Number.POSITIVE_INFINITY
  })
}

ask()
parentPort?.once("message", () => {
  // The answer that is awaited just now counts.
  setTimeout(() => {
    parentPort?.postMessage(longestMs)
    process.exit()
  }, 50)
})
