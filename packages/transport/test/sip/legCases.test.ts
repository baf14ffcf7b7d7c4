// The leg of a telephone as a leg: its media on loopback, against the media of a far side.
import { setTimeout as rest } from "node:timers/promises"
import { onTestFinished } from "vitest"
import { legCases, type FarSide } from "@parley/engine/testing/legCases"
import { makePhoneMedia } from "../../src/rtp/PhoneMedia.ts"
import { SipLeg } from "../../src/sip/SipLeg.ts"
import { SipTrace } from "../../src/sip/SipTrace.ts"
import { makeTone } from "../wire/tone.ts"

const media = () =>
  makePhoneMedia({
    address: "127.0.0.1",
    bind: "127.0.0.1",
    ports: undefined,
    secure: false,
    peer: "127.0.0.1",
    mayReach: () => true,
    onNote: () => undefined
  })

const make = async (): Promise<FarSide> => {
  const [ours, theirs] = [await media(), await media()]
  await ours.accept((await theirs.answer(ours.offer())) ?? "")
  onTestFinished(() => theirs.close())
  let released = 0
  let heard = 0
  let pressed = ""
  theirs.sound().hear({
    onFrame: (samples) => void (samples.some((sample) => Math.abs(sample) > 2_000) && heard++),
    onDigit: (digit) => void (pressed += digit),
    onSilent: () => undefined
  })
  const leg = new SipLeg({
    callId: "a call",
    media: ours,
    sipTrace: new SipTrace(),
    // As the call's scope does when its session ends.
    end: (how) => {
      released++
      leg.end(how)
      ours.close()
    },
    refer: async () => 200
  })
  const tone = makeTone(8_000, 500, 0.5)
  const says = async (frames: number, frame: () => Int16Array | undefined): Promise<void> => {
    for (let i = 0; i < frames; i++) theirs.sound().play(frame())
    await rest(20)
  }
  return {
    leg,
    speaks: (frames) => says(frames, () => tone(160)),
    presses: async (digit) => {
      theirs.sound().sendDigits(digit)
      await says(14, () => undefined)
    },
    leaves: async (how) => {
      if (released > 0) return
      released++
      leg.end(how)
      ours.close()
    },
    heard: () => heard,
    pressed: () => pressed,
    released: () => released
  }
}

legCases("SipLeg", make)
