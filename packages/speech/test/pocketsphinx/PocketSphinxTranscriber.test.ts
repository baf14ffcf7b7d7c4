// The loop-back: what Flite says, PocketSphinx hears. Catches wrong sample rates and cut audio at once.
import { describe, expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { findPocketSphinx } from "../../src/pocketsphinx/PocketSphinxInstallation.ts"
import { makePocketSphinxTranscriber } from "../../src/pocketsphinx/PocketSphinxTranscriber.ts"
import { speakToWav, withSilence } from "../../src/testing/speakToWav.ts"
import { finals, transcriptLog, pushAll, recall, transcriberCases, until } from "../cases/transcriberCases.ts"

const sentences = [
  "hello i would like to book an appointment for tomorrow morning",
  "my name is john and i need a haircut on wednesday",
  "what time do you close in the evening"
]

if (findPocketSphinx() === undefined) {
  const missing = "needs pocketsphinx and pocketsphinx-en-us"
  it.skipIf(process.env["CI"] !== "true")(`PocketSphinxTranscriber (${missing})`, () => expect.fail(missing))
} else {
  const heard = sentences.map((expected, i) => ({
    samples: withSilence([speakToWav(expected, ["rms", "slt"][i % 2])], 400),
    expected
  }))
  transcriberCases("pocketsphinx", makePocketSphinxTranscriber({ poolSize: 1 }), heard)

  describe("PocketSphinxTranscriber", () => {
    it.live("hears most words of both voices, with growing partials before the commit", () =>
      Effect.gen(function* () {
        const transcriber = yield* makePocketSphinxTranscriber({ poolSize: 1 })
        const { events, options } = transcriptLog()
        const stream = yield* transcriber.open(options)
        let words = 0
        for (const [i, { expected, samples }] of heard.entries()) {
          events.length = 0
          pushAll(stream, samples)
          yield* until(() => recall(expected, events.at(-1)?.text ?? "") > 0.7)
          expect(events.length).toBeGreaterThan(3)
          expect(events.every((event) => event._tag === "Partial")).toBe(true)
          stream.commit()
          yield* until(() => finals(events).length === 1)
          words += recall(expected, finals(events)[0]?.text ?? "") / sentences.length
          expect(finals(events)[0]?.words[0]?.startMs).toBeGreaterThan(300)
          expect(i).toBeLessThan(sentences.length)
        }
        expect(words).toBeGreaterThan(0.85)
      })
    )

    it.live("hears nothing in noise without a voice", () =>
      Effect.gen(function* () {
        const transcriber = yield* makePocketSphinxTranscriber({ poolSize: 1 })
        const { events, options } = transcriptLog()
        const stream = yield* transcriber.open(options)
        stream.push(new Int16Array(16_000 * 3))
        stream.commit()
        yield* until(() => finals(events).length === 1)
        expect(finals(events)[0]?.text).toBe("")
      })
    )
  })
}
