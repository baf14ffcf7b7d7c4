// `npm run fuzz -- --messages 1000000 --seed 1`: malformed messages to the SIP server, and what came of them. Accepted
// calls are left open for seconds without an ACK, some until they are given up, so that their timers fire. Fails on a
// fault, on a request without its answer, and on memory that grows.
import { parseArgs } from "node:util"
import { fuzzSip } from "@parley/transport/testing/SipFuzz"

const { values } = parseArgs({ options: { messages: { type: "string" }, seed: { type: "string" } } })
const messages = Number(values.messages ?? 100_000)
const seed = Number(values.seed ?? Date.now() % 1_000_000)
/** Open calls come and go: 8 MB more or less. Beyond that, a leak of anything at all is more than 8 bytes a message. */
const mostBytesPerMessage = Math.max(8, 8_000_000 / messages)

console.log(`${messages} messages, seed ${seed}`)
const report = await fuzzSip({
  messages,
  seed,
  // They are as many from then on for the memory not to seem to grow.
  patient: messages >= 100_000,
  onProgress: (said, bytes) => console.log(`${said}  heap ${(bytes / 1e6).toFixed(1)} MB`)
})
const { faults, heapBytesPerMessage, left, unanswered, ...rest } = report
console.log(JSON.stringify({ ...rest, heapBytesPerMessage, left }, undefined, 2))
for (const fault of faults) console.log(`FAULT ${fault}`)
for (const text of unanswered) console.log(`UNANSWERED ${JSON.stringify(text)}`)
const isGood = faults.length === 0 && unanswered.length === 0 && left === 0 && heapBytesPerMessage < mostBytesPerMessage
console.log(isGood ? "good" : "BAD")
process.exit(isGood ? 0 : 1)
