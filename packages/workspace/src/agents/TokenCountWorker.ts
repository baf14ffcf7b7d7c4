// Worker entry: one text, one answer.
import { isWithinTokenLimit } from "gpt-tokenizer/encoding/o200k_base"
import { parentPort, workerData } from "node:worker_threads"

const { limit, text } = workerData as { readonly text: string; readonly limit: number }
// Text that looks like a control token is counted as the plain text it is.
parentPort?.postMessage(isWithinTokenLimit(text, limit, { disallowedSpecial: new Set() }) === false)
