// What the agent says is what a caller hears: the greeting, through Opus, SRTP and a jitter buffer, is
// recognised again word for word, without holes in it.
import { Deferred, Effect } from "effect"
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { makePocketSphinxTranscriber } from "@parley/speech/pocketsphinx/PocketSphinxTranscriber"
import { describe, expect, it } from "vitest"
import { joinCall, until } from "../../src/testing/RtcCaller.ts"
import { startService } from "../../src/testing/RunningService.ts"

const installation = findPocketSphinx()
if (installation === undefined && process.env["CI"] === "true") throw new Error("PocketSphinx is missing")

const greeting =
  "Welcome. We are open from nine in the morning until six in the evening, and we are happy to help you with any question about your appointment."

describe.skipIf(installation === undefined)("the agent's voice (needs PocketSphinx)", { timeout: 60_000 }, () => {
  it("arrives whole", async () => {
    const service = await startService()
    const agent_id = await service.agent({ prompt: { first_message_mode: "fixed", first_message: greeting } })
    const caller = await joinCall(await service.api("POST", "/v1/agent/sessions", { agent_id }))
    await until("the greeting is over", () => caller.heard.length > 200 && caller.state() === "listening", 30_000)
    await new Promise((rest) => setTimeout(rest, 500))
    const audio = caller.recording()
    await caller.leave()
    await service.stop()
    const text = await Effect.runPromise(transcribe(audio))
    const heard = new Set(text.split(/\s+/))
    const words = greeting.toLowerCase().match(/[a-z]+/g) ?? []
    const missing = words.filter((word) => !heard.has(word))
    expect(missing.length / words.length, `not understood: ${missing.join(" ")} in: ${text}`).toBeLessThan(0.2)
    expect(longestHoleMs(audio)).toBeLessThan(150)
  })
})

const transcribe = (audio: Int16Array) =>
  Effect.scoped(
    Effect.gen(function* () {
      if (installation === undefined) return ""
      const transcriber = yield* makePocketSphinxTranscriber({ installation })
      const said = yield* Deferred.make<string>()
      const stream = yield* transcriber.open({
        language: "en",
        keyterms: [],
        onEvent: (event) => void (event._tag === "Final" && Deferred.doneUnsafe(said, Effect.succeed(event.text))),
        onFailure: () => void Deferred.doneUnsafe(said, Effect.succeed(""))
      })
      for (let at = 0; at < audio.length; at += 1_600) {
        stream.push(audio.subarray(at, at + 1_600))
        yield* Effect.sleep(20)
      }
      stream.commit()
      return yield* Deferred.await(said)
    })
  )

/** Digital silence between two sounds; a pause of speech still has the codec's noise in it. */
const longestHoleMs = (audio: Int16Array): number => {
  let longest = 0
  let run = 0
  let sounded = false
  for (const sample of audio) {
    if (Math.abs(sample) > 500) {
      if (sounded) longest = Math.max(longest, run)
      sounded = true
      run = 0
    } else if (sample === 0) run++
  }
  return longest / 16
}
