// Two groups of tests that never run at the same time: those of the rooms side by side; those with real peers (a
// browser, other SDKs, the service in a process of its own, real time) one file at a time, so that they measure
// the code and not each other.
import { defineConfig } from "vitest/config"

const wire = [
  "packages/*/test/wire/**/*.test.ts",
  "packages/client/test/**/*.test.ts",
  "packages/console/test/**/*.test.ts",
  "examples/test/**/*.test.ts",
  "packages/server/test/Service.test.ts"
]
// Machines of a CI are shared: what fails there is tried once more, and the report names it.
const retry = process.env["CI"] === "true" ? 1 : 0
const each = { pool: "forks", testTimeout: 30_000, hookTimeout: 90_000, retry } as const

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...each,
          name: "rooms",
          globalSetup: ["packages/workspace/src/testing/sharedPostgres.ts"],
          include: ["packages/*/test/**/*.test.ts"],
          exclude: ["**/node_modules/**", ...wire],
          sequence: { groupOrder: 0 }
        }
      },
      { test: { ...each, name: "wire", include: wire, maxWorkers: 1, sequence: { groupOrder: 1 } } }
    ]
  }
})
