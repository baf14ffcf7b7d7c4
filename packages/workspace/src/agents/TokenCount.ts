// Whether a prompt has more tokens than allowed (o200k_base). A token is at least one byte, so short text needs no
// counting; longer text is counted in a worker that lives as long as the count, because
// counting can take seconds and must not hold up the media thread.
import { Effect } from "effect"
import { utf8Length } from "@parley/contract/Field"
import { makeWorkerPool } from "@parley/speech/workers/WorkerPool"
import type { TokenCountJob } from "./TokenCountWorker.ts"

const countMs = 20_000

/** Text that cannot be counted in time counts as too long. */
export const exceedsTokens = (text: string, limit: number): Effect.Effect<boolean> =>
  text.length <= limit && utf8Length(text) <= limit ? Effect.succeed(false) : countApart({ text, limit })

const countApart = (job: TokenCountJob): Effect.Effect<boolean> =>
  makeWorkerPool<TokenCountJob, TokenCountJob, boolean>({
    program: { kind: "thread", file: new URL("./TokenCountWorker.ts", import.meta.url), name: "tokens" },
    workers: 1,
    queueLimit: 1,
    answerMs: countMs,
    readyMs: countMs,
    protocol: { start: (_, job) => job },
    whenDown: "fail"
  }).pipe(
    Effect.flatMap((pool) => pool.run(job, true)),
    Effect.scoped,
    Effect.catchIf(
      ({ reason }) => reason === "Timeout",
      () => Effect.succeed(true)
    ),
    Effect.orDie
  )
