// When a far side counts as gone. A pure machine: every RTP or RTCP packet and every signal ping is a sign,
// so a muted client and one without a microphone are alive as long as they ping. werift's own states are not
// asked: they stay `connected` through a blackout of 25 s.

/** What is known about the far side. */
export interface SignOfLife {
  readonly lastSignMs: number
  /** Since when signalling is away; undefined while it is there. */
  readonly awaySinceMs: number | undefined
}

/** When it counts as gone, in milliseconds. */
export interface Patience {
  /** Without any sign for this long: lost. */
  readonly silenceMs: number
  /** Without signalling for this long: lost, for the client has not resumed. */
  readonly graceMs: number
}

/** A leg that begins now. */
export const begin = (nowMs: number): SignOfLife => ({ lastSignMs: nowMs, awaySinceMs: undefined })

/** Something came. */
export const sign = (life: SignOfLife, nowMs: number): SignOfLife => ({ ...life, lastSignMs: nowMs })

/** Signalling broke; the first break counts. */
export const away = (life: SignOfLife, nowMs: number): SignOfLife => ({
  ...life,
  awaySinceMs: life.awaySinceMs ?? nowMs
})

/** Signalling is there again. */
export const back = (_life: SignOfLife, nowMs: number): SignOfLife => ({ lastSignMs: nowMs, awaySinceMs: undefined })

/** Whether it counts as gone now. */
export const isLost = (life: SignOfLife, patience: Patience, nowMs: number): boolean =>
  nowMs - life.lastSignMs >= patience.silenceMs ||
  (life.awaySinceMs !== undefined && nowMs - life.awaySinceMs >= patience.graceMs)
