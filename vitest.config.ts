import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["packages/*/test/**/*.test.ts", "scripts/test/**/*.test.ts", "examples/**/*.test.ts"],
    pool: "forks",
    testTimeout: 20_000,
    hookTimeout: 60_000
  }
})
