import { assert, describe, it } from "@effect/vitest"
import { consentByKey, consentIn } from "../../src/transfer/consent.ts"
import { FrameRing } from "../../src/transfer/FrameRing.ts"
import { HoldMusic } from "../../src/transfer/HoldMusic.ts"
import { phoneToolsOf } from "../../src/transfer/PhoneTools.ts"
import { defaultPlan, type PlannedTransfer } from "../../src/CallPlan.ts"

const loudness = (samples: Int16Array) => Math.sqrt(samples.reduce((sum, s) => sum + s * s, 0) / samples.length)

describe("a colleague's answer", () => {
  it.each([
    ["Yes", "yes"],
    ["Yeah, put him through, please.", "yes"],
    ["sure go ahead", "yes"],
    ["Okay", "yes"],
    ["Ja, gerne.", "yes"],
    ["Oui, d’accord", "yes"],
    ["No", "no"],
    ["No, not okay, I'm in a meeting", "no"],
    ["I can’t right now", "no"],
    ["Maybe later?", "no"],
    ["Nein, keine Zeit", "no"],
    ["Who is this?", "unclear"],
    ["Hello?", "unclear"],
    ["Know what?", "unclear"]
  ])("%s is %s", (said, verdict) => assert.strictEqual(consentIn(said), verdict))

  it("may be a key", () => {
    assert.deepStrictEqual(["1", "2", "9"].map(consentByKey), ["yes", "no", "unclear"])
  })
})

describe("sound between two sides", () => {
  it("arrives whole at the other's rate, and is silence when nothing comes", () => {
    const ring = new FrameRing(8_000)
    const frame = new Int16Array(160)
    assert.isFalse(ring.read(frame))
    const tone = Int16Array.from({ length: 320 }, (_, i) => 6_000 * Math.sin((2 * Math.PI * 400 * i) / 16_000))
    let loud = 0
    for (let i = 0; i < 100; i++) {
      ring.push(tone)
      if (ring.read(frame) && loudness(frame) > 3_000) loud++
    }
    assert.isAbove(loud, 94)
    for (let i = 0; i < 20; i++) ring.read(frame)
    assert.isFalse(ring.read(frame))
  })

  it("drops what is too old when one clock is faster", () => {
    const ring = new FrameRing(8_000)
    const frame = new Int16Array(160)
    for (let i = 0; i < 100; i++) ring.push(new Int16Array(320).fill(i * 100))
    let frames = 0
    let last = 0
    while (ring.read(frame)) {
      frames++
      last = frame[159] ?? 0
    }
    assert.isAtMost(frames, 10)
    assert.isAbove(last, 9_000)
  })

  it("plays music on hold that never ends and never shouts", () => {
    const music = new HoldMusic(8_000)
    const frame = new Int16Array(160)
    let [loudest, quietest] = [0, 9e9]
    for (let i = 0; i < 1_000; i++) {
      assert.isTrue(music.read(frame))
      loudest = Math.max(loudest, loudness(frame))
      quietest = Math.min(quietest, loudness(frame))
    }
    assert.isBelow(loudest, 3_000)
    assert.isBelow(quietest, 300)
  })
})

const to = (label: string): PlannedTransfer => ({
  label,
  description: `People of ${label}`,
  mode: "cold",
  target: "+14155550199",
  warmConnect: "confirm",
  briefing: "",
  onFailure: { action: "return_to_agent", message: "" }
})

const specs = (phone: { transfers: ReadonlyArray<PlannedTransfer>; keypad: boolean } | undefined) =>
  phoneToolsOf({ ...defaultPlan("s", ""), phone: phone && { number: "", referHeaders: {}, ...phone } }).map(
    ({ spec }) => spec
  )

describe("the tools of a telephone call", () => {
  it("are offered where there is something to do, with labels when there is a choice", () => {
    assert.deepStrictEqual(specs(undefined), [])
    assert.deepStrictEqual(specs({ transfers: [], keypad: false }), [])
    assert.deepStrictEqual(
      specs({ transfers: [to("Sales")], keypad: true }).map(({ name }) => name),
      ["transfer_call", "send_digits"]
    )
    const [one] = specs({ transfers: [to("")], keypad: false })
    assert.deepInclude(one?.parameters, { properties: {} })
    const [two] = specs({ transfers: [to("Sales"), to("Care")], keypad: false })
    assert.deepInclude(two?.parameters, { required: ["destination"] })
    assert.include(two?.description ?? "", "Care: People of Care")
  })
})
