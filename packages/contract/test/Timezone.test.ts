// The order in which a session's zone is found, as a table.
import { assert, describe, it } from "@effect/vitest"
import { resolveTimezone } from "../src/Timezone.ts"
import { isTimezone } from "../src/timezoneNames.ts"

const none = { request: undefined, agent: "", client: undefined, caller: undefined }
const all = { request: "Asia/Tokyo", agent: "Europe/Paris", client: "America/Chicago", caller: "+4915123456789" }

describe("resolveTimezone", () => {
  it.each([
    ["the request's", all, "Asia/Tokyo"],
    ["the agent's", { ...all, request: undefined }, "Europe/Paris"],
    ["the device's", { ...all, request: undefined, agent: "" }, "America/Chicago"],
    ["the caller's country's", { ...all, request: undefined, agent: "", client: undefined }, "Europe/Berlin"],
    ["UTC", none, "UTC"],
    ["not an unknown hint", { ...none, client: "Mars/Base" }, "UTC"],
    ["not a hint that is an offset", { ...none, client: "+01:00" }, "UTC"],
    ["not an agent's zone that is no zone any more", { ...all, request: undefined, agent: "Gone" }, "America/Chicago"],
    ["the country's where the hint is unknown", { ...none, client: "x", caller: "+81312345678" }, "Asia/Tokyo"],
    ["not of a country with several zones", { ...none, caller: "+14155550123" }, "UTC"],
    ["not of a number that is none", { ...none, caller: "anonymous" }, "UTC"]
  ])("takes %s", (_what, zones, expected) => assert.strictEqual(resolveTimezone(zones), expected))

  it("knows every zone it answers with", () => {
    for (let code = 20; code < 1000; code++) {
      assert.isTrue(isTimezone(resolveTimezone({ ...none, caller: `+${code}1234567` })), String(code))
    }
  })
})
