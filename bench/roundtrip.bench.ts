// How much of twenty spoken sentences the service understands of itself, for each format: word error rates.
import { roundTrip, roundTripFormats } from "../packages/server/src/testing/RoundTrip.ts"
import { startService } from "../packages/server/src/testing/RunningService.ts"
import { report } from "./report.ts"

const service = await startService({ PARLEY_TRIAL_BALANCE: "1000" })
const rows: Array<{ readonly format: string; readonly rate: number; readonly said: string; readonly heard: string }> =
  []
for (const format of roundTripFormats) rows.push({ format: format.name, ...(await roundTrip(service, format)) })
await service.stop()
const measures = rows.map(({ format, rate }) => ({ what: `word errors, ${format}`, unit: "%", values: [100 * rate] }))
report("roundtrip", measures, rows)
