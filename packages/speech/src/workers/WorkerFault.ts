// Why work that was given to a worker thread or a child process has no result.
import { Data } from "effect"

/** The one error of this folder. Each adapter turns it into the error of its port; all reasons may be retried. */
export class WorkerFault extends Data.TaggedError("WorkerFault")<{
  /**
   * - `Full`: the queue or the slots are taken (503 at the HTTP edge).
   * - `Lost`: the worker died, could not start, or was stopped.
   * - `Timeout`: no answer in time; the worker was killed if it was busy with the job.
   * - `Threw`: the handler of a slot threw; the worker lives.
   */
  readonly reason: "Full" | "Lost" | "Timeout" | "Threw"
  /** For people. Holds no part of a job. */
  readonly message: string
}> {}

/** A `WorkerFault`, shorter. */
export const workerFault = (reason: WorkerFault["reason"], message: string): WorkerFault =>
  new WorkerFault({ reason, message })
