// Worker entry: one text, one answer.
import { isWithinTokenLimit } from "gpt-tokenizer/encoding/o200k_base"
import { parentPort } from "node:worker_threads"

/** Has `text` more than `limit` tokens? The answer is a boolean. */
export interface TokenCountJob {
  readonly text: string
  readonly limit: number
}

parentPort?.on("message", ({ limit, text }: TokenCountJob) => {
  // Text that looks like a control token is counted as the plain text it is.
  parentPort?.postMessage(isWithinTokenLimit(text, limit, { disallowedSpecial: new Set() }) === false)
})
