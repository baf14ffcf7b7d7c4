// What the work of a crash scenario has had acknowledged so far, and so must be there after every restart.

/** Of a session that was opened: what a caller joins with. */
export interface Ticket {
  readonly session_id: string
  readonly rtc_url: string
  readonly token: string
}

/** Acknowledged writes. Where a write was cut, both the value before and the value after are expected. */
export interface CrashRecord {
  readonly random: () => number
  /** Id of the agent that takes the calls. */
  readonly agent: string
  /** Descriptions by tool id; undefined: not there. */
  readonly tools: Map<string, ReadonlyArray<string | undefined>>
  /** Sessions that were acknowledged, with the statuses they may have. */
  readonly sessions: Map<string, ReadonlySet<string>>
  /** Pending sessions that a later call may join. */
  readonly waiting: Array<Ticket>
  /** Sessions whose caller was answered. */
  readonly answered: Set<string>
  versions: number
  toolWrites: number
}

/** None may be readable in the data folder. */
export const secrets = {
  hook: "crash-scenario-hook-secret-Noh8ahthoo",
  tool: "crash-scenario-tool-secret-Ieyoo2cahn",
  model: "crash-scenario-model-key-eiSh5aeraep"
}

/** Paths of the two webhook endpoints; the second refuses some deliveries at first. */
export const endpoints = ["/steady", "/refusing"] as const

/** Waits for `ms` milliseconds. */
export const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms))
