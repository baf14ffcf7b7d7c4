// What is known of each provider of one port, in the order of preference. A provider that failed is put aside
// for a while and then tried again; while all are aside, all are tried. Time comes from the Effect Clock.
import { Clock, Effect } from "effect"
import type { SpeechError, SpeechErrorReason } from "../ports/SpeechError.ts"

/** A provider as `/health` shows it. */
export interface ProviderHealth {
  readonly provider: string
  /** For people: what it is and how good. */
  readonly label: string
  /** False while it is put aside or not there at all. */
  readonly healthy: boolean
  /** Why it last failed; gone once it served again. */
  readonly lastError?: SpeechErrorReason
}

/** A provider of one port and what is known of it. */
export class Candidate<A> {
  readonly provider: string
  readonly label: string
  /** `undefined` for a provider that is configured and not there. */
  readonly adapter: A | undefined
  lastError: SpeechErrorReason | undefined
  asideUntilMs = 0
  /** For people: why it cannot serve just now, where the provider itself knows. */
  readonly fault: () => string | undefined

  constructor(
    provider: string,
    label: string,
    adapter: A | undefined,
    lastError?: SpeechErrorReason,
    fault: () => string | undefined = () => undefined
  ) {
    this.provider = provider
    this.label = label
    this.adapter = adapter
    this.lastError = lastError
    this.fault = fault
  }

  served(): void {
    this.lastError = undefined
    this.asideUntilMs = 0
  }

  failed(error: SpeechError, nowMs: number, coolDownMs: number): void {
    this.lastError = error.reason
    this.asideUntilMs = nowMs + coolDownMs * weights[error.reason]
  }
}

export const defaultCoolDownMs = 30_000

/** What part of the cool-down a failure costs; nothing when the request, not the provider, was the cause. */
const weights: Readonly<Record<SpeechErrorReason, number>> = {
  Unavailable: 1,
  Timeout: 1,
  Unauthorized: 1,
  InvalidOutput: 1,
  Overloaded: 0.1,
  BadRequest: 0,
  LanguageNotSupported: 0
}

/** A candidate that is there. */
export interface Present<A> extends Candidate<A> {
  readonly adapter: A
}

/** The healthy ones in order, then those put aside, soonest back first. */
export const inOrder = <A>(candidates: ReadonlyArray<Candidate<A>>, nowMs: number): ReadonlyArray<Present<A>> => {
  const there = candidates.filter((candidate): candidate is Present<A> => candidate.adapter !== undefined)
  const aside = (candidate: Candidate<A>) => candidate.asideUntilMs > nowMs
  return [
    ...there.filter((candidate) => !aside(candidate)),
    ...there.filter(aside).sort((a, b) => a.asideUntilMs - b.asideUntilMs)
  ]
}

/** The state of each candidate now, in their order. */
export const healthOf = <A>(candidates: ReadonlyArray<Candidate<A>>): Effect.Effect<ReadonlyArray<ProviderHealth>> =>
  Effect.map(Clock.currentTimeMillis, (nowMs) =>
    candidates.map(({ adapter, asideUntilMs, fault, label, lastError, provider }) => {
      const wrong = fault()
      return {
        provider,
        label: wrong === undefined ? label : `${label}: ${wrong}`,
        healthy: adapter !== undefined && wrong === undefined && asideUntilMs <= nowMs,
        ...(lastError === undefined ? {} : { lastError })
      }
    })
  )
