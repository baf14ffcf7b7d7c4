// Whether a prompt has more tokens than allowed (o200k_base). A token is at least one byte, so short text needs no
// counting; longer text is counted in a worker that lives as long as the count, because
// counting can take seconds and must not hold up the media thread.
import { Effect } from "effect"
import { utf8Length } from "@parley/contract/Field"
import { Worker } from "node:worker_threads"

const patienceMs = 20_000

/** Text that cannot be counted in time counts as too long. */
export const exceedsTokens = (text: string, limit: number): Effect.Effect<boolean> =>
  text.length <= limit && utf8Length(text) <= limit ? Effect.succeed(false) : countApart(text, limit)

const countApart = (text: string, limit: number): Effect.Effect<boolean> =>
  Effect.callback<boolean>((resume) => {
    const worker = new Worker(new URL("./TokenCountWorker.ts", import.meta.url), { workerData: { text, limit } })
    worker.once("message", (exceeds: boolean) => resume(Effect.succeed(exceeds)))
    worker.once("error", (error) => resume(Effect.die(error)))
    return Effect.sync(() => void worker.terminate())
  }).pipe(Effect.timeoutOrElse({ duration: patienceMs, orElse: () => Effect.succeed(true) }))
