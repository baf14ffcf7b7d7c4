// Three groups of tests that never run at the same time: those of the rooms, without real peers; those with real peers
// (other SDKs, the service in a process of its own, real time) that mostly wait, several files at a time; and those whose
// sound must arrive in time, one file after the other, so that they measure the code and not each other.
import { defineConfig } from "vitest/config"

const alone = [
  "packages/server/test/wire/RtcCall.test.ts",
  "packages/server/test/wire/Engines.test.ts",
  "packages/server/test/wire/speech/Abandoned.test.ts",
  "packages/server/test/wire/phone/**/*.test.ts",
  "packages/transport/test/wire/**/*.test.ts",
  "packages/client/test/**/*.test.ts",
  "examples/test/**/*.test.ts"
]
const wire = [
  "packages/*/test/wire/**/*.test.ts",
  "packages/console/test/**/*.test.ts",
  "packages/server/test/Service.test.ts"
]
// Machines of a CI are shared: what fails there is tried once more, and the report names it.
const retry = process.env["CI"] === "true" ? 1 : 0
const each = { pool: "forks", testTimeout: 30_000, hookTimeout: 90_000, retry } as const
const elsewhere = "**/node_modules/**"

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...each,
          name: "rooms",
          globalSetup: ["packages/workspace/src/testing/sharedPostgres.ts"],
          include: ["packages/*/test/**/*.test.ts"],
          exclude: [elsewhere, ...wire, ...alone],
          maxWorkers: 3,
          sequence: { groupOrder: 0 }
        }
      },
      {
        test: {
          ...each,
          name: "wire",
          include: wire,
          exclude: [elsewhere, ...alone],
          maxWorkers: 2,
          sequence: { groupOrder: 1 }
        }
      },
      { test: { ...each, name: "alone", include: alone, maxWorkers: 1, sequence: { groupOrder: 2 } } }
    ]
  }
})
