// How long each thing of a telephone call may take. The values of the product; a door may be given shorter ones, so
// that what takes half a minute in the field is tried in a moment.

export interface Waits {
  /** Not even a 100: nobody is there (decisions 15). */
  readonly deadMs: number
  /** After a CANCEL the far side owes a 487 (RFC 3261, 9.1). */
  readonly cancelMs: number
  /** A transfer that nobody reports on. */
  readonly referMs: number
  /** OPTIONS to a trunk. */
  readonly checkMs: number
  /** What a finished call still answers repeats for: 64 T1 on UDP, moments on connections. */
  readonly lingerMs: { readonly unreliable: number; readonly reliable: number }
  /** Between the BYEs of a closing door and its end. */
  readonly goodbyeMs: number
  /** An offer of ours in a 200 that no ACK answers. */
  readonly ackMs: number
  /** A second of session timers and of ringing. */
  readonly secondMs: number
}

export const waitsOfTheField: Waits = {
  deadMs: 8_000,
  cancelMs: 5_000,
  referMs: 40_000,
  checkMs: 8_000,
  lingerMs: { unreliable: 33_000, reliable: 5_000 },
  goodbyeMs: 1_000,
  ackMs: 32_000,
  secondMs: 1_000
}
