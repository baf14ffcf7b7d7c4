// How long each step of a telephone call may take in production (see `SipTimings` for what each bounds).
import type { SipTimings } from "../phone/Phone.ts"

export const defaultTimings: SipTimings = {
  deadMs: 8_000,
  cancelMs: 5_000,
  referMs: 40_000,
  checkMs: 8_000,
  lingerMs: { unreliable: 33_000, reliable: 5_000 },
  goodbyeMs: 1_000,
  ackMs: 32_000,
  secondMs: 1_000
}
