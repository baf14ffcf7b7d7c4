// The service hears what it says, through each format: text, speech, encoder, decoder, recogniser, text. The long form
// with twenty sentences is `npm run bench -- roundtrip`.
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { roundTrip, roundTripFormats } from "../../../src/testing/RoundTrip.ts"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"

const deaf = findPocketSphinx() === undefined

describe.skipIf(deaf)("round trip (needs PocketSphinx)", { timeout: 90_000 }, () => {
  let service: RunningService
  beforeAll(async () => {
    service = await startService()
  })
  afterAll(() => service.stop())

  it.for(roundTripFormats)("is understood as $name", async (format) => {
    const { heard, rate, said } = await roundTrip(service, format, 3)
    console.log(`word error rate as ${format.name}: ${(100 * rate).toFixed(1)} %`)
    expect(rate, `${said}\n${heard}`).toBeLessThan(0.25)
  })
})
