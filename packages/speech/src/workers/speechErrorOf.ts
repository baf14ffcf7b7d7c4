// A worker's fault as the error of the speech ports.
import { SpeechError } from "../ports/SpeechError.ts"
import type { SpeechErrorReason } from "../ports/SpeechError.ts"
import type { WorkerFault } from "./WorkerFault.ts"

const reasons: Readonly<Record<WorkerFault["reason"], SpeechErrorReason>> = {
  Full: "Overloaded",
  Lost: "Unavailable",
  Timeout: "Timeout",
  Threw: "InvalidOutput"
}

/** `Full` becomes `Overloaded`, `Lost` `Unavailable`, `Threw` `InvalidOutput`; `provider` is named in the error. */
export const speechErrorOf =
  (provider: string) =>
  ({ message, reason }: WorkerFault): SpeechError =>
    new SpeechError({ reason: reasons[reason], provider, message })
