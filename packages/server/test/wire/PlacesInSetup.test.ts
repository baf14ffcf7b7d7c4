// Joins whose media never flows, against the running service with few places: their places are free for others, and their records
// say that nobody connected.
import { startService, type RunningService } from "../../src/testing/RunningService.ts"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { WebSocket } from "ws"

interface Ticket {
  readonly session_id: string
  readonly rtc_url: string
  readonly token: string
}

interface Session {
  readonly status: string
  readonly end_reason: string | null
  readonly duration_seconds: number | null
}

const join = ({ rtc_url, token }: Ticket) =>
  new Promise<{ readonly ws: WebSocket; readonly status: number }>((resolve) => {
    const ws = new WebSocket(`${rtc_url}/rtc?access_token=${token}&protocol=16`)
    ws.on("open", () => resolve({ ws, status: 101 }))
    ws.on("unexpected-response", (_, { statusCode = 0 }) => resolve({ ws, status: statusCode }))
    ws.on("error", () => undefined)
  })

describe("places of calls in setup", { timeout: 60_000 }, () => {
  let service: RunningService
  let agentId: string
  beforeAll(async () => {
    service = await startService({ PARLEY_MAX_CALLS: "2" })
    agentId = await service.agent({})
  })
  afterAll(() => service.stop())

  const ticket = () => service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id: agentId })
  const session = ({ session_id }: Ticket) => service.api<Session>("GET", `/v1/agent/sessions/${session_id}`)
  const taken = async () => ((await (await fetch(`${service.url}/health`)).json()) as { readonly calls: number }).calls
  const over = async (one: Ticket) => {
    for (;;) {
      const { duration_seconds, end_reason, status } = await session(one)
      if (status !== "active") return { status, end_reason, duration_seconds }
      await new Promise((later) => setTimeout(later, 50))
    }
  }

  it("are counted by /health, and free at once when the socket is cut or the API ends the session", async () => {
    const [cut, ended, third, fourth] = await Promise.all([ticket(), ticket(), ticket(), ticket()])
    const first = await join(cut)
    const second = await join(ended)
    expect([first.status, second.status, await taken()]).toEqual([101, 101, 2])

    await service.api("POST", `/v1/agent/sessions/${ended.session_id}/end`)
    const next = await join(third)
    expect([next.status, await taken()]).toEqual([101, 2])
    expect(await over(ended)).toEqual({ status: "failed", end_reason: "cancelled", duration_seconds: null })
    if (second.ws.readyState !== WebSocket.CLOSED) await new Promise((closed) => second.ws.once("close", closed))

    const gone = new Promise((closed) => first.ws.once("close", closed))
    first.ws.terminate()
    await gone
    const last = await join(fourth)
    expect(last.status).toBe(101)
    expect(await over(cut)).toMatchObject({ status: "failed", duration_seconds: null })
    for (const { ws } of [next, last]) ws.terminate()
    for (const one of [third, fourth]) {
      expect(await over(one)).toEqual({ status: "failed", end_reason: "cancelled", duration_seconds: null })
    }
    expect(await taken()).toBe(0)
  })

  it("go to whoever comes 2 s later", async () => {
    const silent = await Promise.all([ticket(), ticket()])
    const sockets = await Promise.all(silent.map(join))
    expect(sockets.map(({ status }) => status)).toEqual([101, 101])
    await new Promise((later) => setTimeout(later, 2_000))
    const newcomer = await join(await ticket())
    expect(newcomer.status).toBe(101)
    const ends = await Promise.any(silent.map(over))
    expect(ends).toEqual({ status: "failed", end_reason: "room_join_timeout", duration_seconds: null })
    for (const { ws } of [...sockets, newcomer]) ws.terminate()
  })
})
