// Telephone numbers in the console: one imported, bound, given a trunk, called from, released. The carrier is a socket
// that answers every INVITE with 486 Busy Here.
import { createSocket, type Socket } from "node:dgram"
import { once } from "node:events"
import type { Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { RunningService } from "../../server/src/testing/RunningService.ts"
import { click, type ConsoleSession, noBrowser, openConsole, openPage } from "./ConsoleSession.ts"

interface Carrier {
  readonly socket: Socket
  /** What was asked of it: `INVITE sip:...`, `ACK sip:...`. */
  readonly asked: Array<string>
}

/** Busy, whoever calls. */
const startCarrier = async (): Promise<Carrier> => {
  const socket = createSocket("udp4")
  const asked: Array<string> = []
  socket.on("message", (data, from) => {
    const [start = "", ...lines] = data.toString().split("\r\n")
    asked.push(start)
    if (!start.startsWith("INVITE ")) return
    const kept = lines.filter((line) => /^(via|from|call-id|cseq|v|f|i):/i.test(line))
    const to = lines.find((line) => /^(to|t):/i.test(line)) ?? ""
    const answer = ["SIP/2.0 486 Busy Here", ...kept, `${to};tag=carrier`, "Content-Length: 0", "", ""]
    socket.send(answer.join("\r\n"), from.port, from.address)
  })
  socket.bind(0, "127.0.0.1")
  await once(socket, "listening")
  return { socket, asked }
}

describe.skipIf(noBrowser)("telephone numbers in the console (needs Chromium)", { timeout: 120_000 }, () => {
  let session: ConsoleSession
  let service: RunningService
  let page: Page
  let carrier: Carrier

  beforeAll(async () => {
    carrier = await startCarrier()
    session = await openConsole({ PARLEY_SIP_PORT: "0" })
    service = session.service
    page = session.page
    await service.agent({ prompt: { system_prompt: "You call people.", first_message_mode: "off" } })
  }, 60_000)
  afterAll(async () => {
    await session?.close()
    carrier?.socket.close()
  })

  const numbers = async (): Promise<ReadonlyArray<Record<string, unknown>>> => {
    type Page = { phone_numbers: ReadonlyArray<Record<string, unknown>> }
    return (await service.api<Page>("GET", "/v1/agent/phone-numbers")).phone_numbers
  }

  it("imports a number, and says what is missing", async () => {
    await openPage(page, "Phone numbers")
    await click(page, "Import a number")
    await page.getByLabel("Number", { exact: true }).fill("+1 (202) 555-0123")
    await page.getByLabel("Label").fill("Front desk")
    await click(page, "Import number")
    await page.getByRole("alert").filter({ hasText: "inbound_auth_username" }).waitFor()
    await page.getByLabel("Inbound user name").fill("carrier")
    await page.getByLabel("Inbound password").fill("password-of-the-carrier")
    await click(page, "Import number")
    await page.getByLabel("Numbers").getByText("not assigned").waitFor()
    await page.getByText("in only").waitFor()
    expect(await page.getByLabel("Inbound password").getAttribute("placeholder")).toBe("stored")
    expect(await page.getByLabel("Inbound password").inputValue()).toBe("")
    expect(await numbers()).toMatchObject([
      { phone_number: "+12025550123", label: "Front desk", provider: "sip", inbound_auth_username: "carrier" }
    ])
  })

  it("binds it to an agent, and points it at its carrier", async () => {
    await page.getByLabel("Answered by").selectOption({ label: "Desk" })
    await page.getByText("This agent now answers.").waitFor()
    await page.getByLabel("Numbers").getByText("Desk answers").waitFor()
    await page.getByLabel("Addresses or networks").fill("127.0.0.1")
    await page.getByLabel("Carrier host").fill(`127.0.0.1:${carrier.socket.address().port}`)
    await page.getByLabel("Transport").selectOption("udp")
    await click(page, "Add a header")
    await page.getByLabel("Header", { exact: true }).fill("X-Account")
    await page.getByLabel("Value").fill("seven")
    await click(page, "Save the carrier")
    await page.getByText("The carrier was saved.").waitFor()
    await page.getByText("in and out").waitFor()
    expect(await numbers()).toMatchObject([
      {
        inbound_auth_username: "carrier",
        inbound_allowed_addresses: ["127.0.0.1"],
        termination_transport: "udp",
        termination_headers: { "X-Account": "seven" }
      }
    ])
  })

  it("places a call, and shows that the line was busy", async () => {
    await page.getByLabel("Calling agent").selectOption({ label: "Desk" })
    await page.getByLabel("To", { exact: true }).fill("12025550199")
    await click(page, "Call")
    await page.getByRole("alert").filter({ hasText: "to_number" }).waitFor()
    await page.getByLabel("To", { exact: true }).fill("+1 202 555 0199")
    await click(page, "Call")
    const call = page.getByLabel("Call", { exact: true })
    await call.getByText("to +12025550199").waitFor()
    await expect
      .poll(
        async () => {
          await click(page, "Refresh")
          return call.getByText("busy").count()
        },
        { timeout: 20_000 }
      )
      .toBeGreaterThan(0)
    await call.locator("summary", { hasText: "SIP trace" }).click()
    await call.getByRole("cell", { name: "486" }).waitFor()
    expect(carrier.asked[0]).toMatch(/^INVITE sips?:\+12025550199@/)
    await openPage(page, "Calls")
    await page.getByRole("cell", { name: "to +12025550199" }).waitFor()
  })

  it("releases it", async () => {
    await openPage(page, "Phone numbers")
    await page.getByLabel("Numbers").getByRole("link", { name: "+12025550123" }).click()
    expect(await page.getByRole("button", { name: "Release number" }).isDisabled()).toBe(true)
    await page.getByLabel("I understand").check()
    await click(page, "Release number")
    await expect.poll(() => page.getByLabel("Numbers").getByRole("link").count(), { timeout: 20_000 }).toBe(0)
    expect(await numbers()).toEqual([])
  })
})
