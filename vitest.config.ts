// Groups of tests that never run at the same time. `rooms`: without real peers; their files share processes, so that the
// code is loaded once, and `rooms-apart` are those that measure their own process. Those with real peers (other SDKs, the
// service in a process of its own, real time) are divided by what bounds them: `waiting` have next to nothing to compute,
// `wire` keep a core busy, and the sound of `alone` must arrive in time, one file after the other, so that they measure
// the code and not each other.
import { join } from "node:path"
import { defineConfig } from "vitest/config"

const apart = [
  "packages/audio/test/opus/Opus.test.ts",
  "packages/speech/test/encoding/EncoderPool.test.ts",
  "packages/speech/test/upload/UploadedAudio.test.ts",
  "packages/transport/test/fuzz/**/*.test.ts",
  "packages/transport/test/livekit/LiveKitServer.test.ts"
]
const alone = [
  "examples/test/browser.test.ts",
  "packages/server/test/wire/Listening.test.ts",
  "packages/server/test/wire/RtcCall.test.ts",
  "packages/server/test/wire/Engines.test.ts",
  "packages/server/test/wire/phone/SpokenCall.test.ts",
  "packages/transport/test/wire/sip/sipp.test.ts"
]
const waiting = [
  "packages/client/test/**/*.test.ts",
  "packages/server/test/wire/phone/Calls.test.ts",
  "packages/transport/test/wire/**/*.test.ts"
]
const wire = [
  "packages/*/test/wire/**/*.test.ts",
  "packages/console/test/**/*.test.ts",
  "packages/server/test/Service.test.ts",
  "examples/test/**/*.test.ts"
]
// Compiled code is kept between the processes that tests run in and start: loading it is half of a service's start.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "compiled")
// Machines of a CI are shared: what fails there is tried once more, and the report names it.
const retry = process.env["CI"] === "true" ? 1 : 0
const each = { pool: "forks", testTimeout: 30_000, hookTimeout: 90_000, retry } as const
const elsewhere = "**/node_modules/**"
const shared = ["packages/workspace/src/testing/sharedPostgres.ts"]
const prepared = ["packages/workspace/src/testing/preparedData.ts"]

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...each,
          name: "rooms",
          globalSetup: shared,
          include: ["packages/*/test/**/*.test.ts"],
          exclude: [elsewhere, ...apart, ...waiting, ...wire, ...alone],
          isolate: false,
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      { test: { ...each, name: "rooms-apart", include: apart, maxWorkers: 3, sequence: { groupOrder: 1 } } },
      {
        test: {
          ...each,
          name: "waiting",
          globalSetup: prepared,
          include: waiting,
          exclude: [elsewhere, ...alone],
          maxWorkers: 4,
          sequence: { groupOrder: 2 }
        }
      },
      {
        test: {
          ...each,
          name: "wire",
          globalSetup: prepared,
          include: wire,
          exclude: [elsewhere, ...waiting, ...alone],
          maxWorkers: 2,
          sequence: { groupOrder: 3 }
        }
      },
      {
        test: {
          ...each,
          name: "alone",
          globalSetup: prepared,
          include: alone,
          maxWorkers: 1,
          sequence: { groupOrder: 4 }
        }
      }
    ]
  }
})
