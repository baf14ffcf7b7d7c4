import { Effect } from "effect"
import { frameMs } from "../../src/leg/Leg.ts"
import * as FakeLeg from "../../src/testing/FakeLeg.ts"
import { legCases, type FarSide } from "../../src/testing/legCases.ts"

const make = async (telephone?: "transferred"): Promise<FarSide> => {
  const leg = await Effect.runPromise(FakeLeg.make(24_000, telephone))
  let left = false
  return {
    leg,
    speaks: (frames) => Effect.runPromise(leg.caller.speaks(frames * frameMs)),
    sends: async (event) => leg.caller.sends(event),
    presses: async (digit) => leg.caller.presses(digit),
    leaves: async (how) => {
      left = true
      leg.caller.leaves(how)
    },
    heard: () => leg.playedMs() / frameMs,
    told: () => leg.messages.length,
    pressed: telephone === undefined ? undefined : () => leg.pressed.join(""),
    released: () => (left || leg.closed() !== null ? 1 : 0)
  }
}

legCases("FakeLeg", () => make())
legCases("FakeLeg of a telephone", () => make("transferred"))
