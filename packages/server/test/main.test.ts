import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const main = fileURLToPath(new URL("../src/main.ts", import.meta.url))

describe("main", () => {
  it("says in one line that the data folder cannot be made, and ends", () => {
    // Below /proc the recursive form of mkdir never returns, and no signal is heard meanwhile.
    const { status, stderr } = spawnSync(process.execPath, [main], {
      env: { PATH: process.env["PATH"], PARLEY_DATA: "/proc/nope", PORT: "0", PARLEY_SIP_PORT: "off" },
      timeout: 25_000,
      killSignal: "SIGKILL",
      encoding: "utf8"
    })
    assert.strictEqual(status, 1)
    assert.strictEqual(stderr, "parley: PARLEY_DATA: cannot make the folder /proc/nope (ENOENT)\n")
  })
})
