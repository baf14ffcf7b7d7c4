// The work that a crash scenario cuts: calls over WebRTC, sessions, tool edits and published versions, each written to the
// record as soon as the service acknowledged it.
import { joinCall } from "../RtcCaller.ts"
import type { RunningService } from "../RunningService.ts"
import { type CrashRecord, pause, secrets, type Ticket } from "./CrashRecord.ts"

/**
 * Calls, edits and publishes at the same time for `ms` milliseconds, then kills the service with kill -9. A request that
 * fails after the kill is expected; one that fails before rejects.
 */
export const work = async (service: RunningService, record: CrashRecord, ms: number): Promise<void> => {
  const over = new AbortController()
  const busy = async (act: () => Promise<void>): Promise<void> => {
    while (!over.signal.aborted) {
      try {
        await act()
      } catch (error) {
        if (!over.signal.aborted) throw error
      }
    }
  }
  const all = Promise.all([
    busy(() => holdCall(service, record, over.signal)),
    busy(() => holdCall(service, record, over.signal)),
    busy(() => openSession(service, record)),
    busy(() => editTool(service, record)),
    busy(() => publish(service, record))
  ])
  try {
    await Promise.race([all, pause(ms)])
  } finally {
    over.abort()
    await service.kill()
  }
  await all
}

/** Opened, or one that waits since before a restart; joined, talked in, and ended in one of three ways. */
const holdCall = async (service: RunningService, record: CrashRecord, over: AbortSignal): Promise<void> => {
  const ticket = record.waiting.shift() ?? (await open(service, record))
  const current = { ...ticket, rtc_url: service.url.replace(/^http/, "ws") }
  record.sessions.set(ticket.session_id, new Set(["pending", "active", "completed"]))
  const caller = await within(joinCall(current), over)
  const gone = within(new Promise<never>(() => undefined), over)
  gone.catch(() => undefined)
  try {
    await Promise.race([happened(() => caller.state() === "listening"), gone])
    record.answered.add(ticket.session_id)
    record.sessions.set(ticket.session_id, new Set(["active", "completed"]))
    await caller.send({ type: "user.message", text: "hello" })
    await Promise.race([happened(() => caller.heard.length > 10), gone])
    if (record.random() < 0.5) {
      await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
      record.sessions.set(ticket.session_id, new Set(["completed"]))
    }
  } finally {
    const left = caller.leave().catch(() => undefined)
    // Leaving a dead service takes its time.
    await Promise.race([left, within(new Promise<never>(() => undefined), over).catch(() => undefined), pause(5000)])
  }
}

const open = async (service: RunningService, record: CrashRecord): Promise<Ticket> => {
  const ticket = await service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id: record.agent })
  record.sessions.set(ticket.session_id, new Set(["pending"]))
  return ticket
}

/** One that waits, or is cancelled. */
const openSession = async (service: RunningService, record: CrashRecord): Promise<void> => {
  await pause(100 + record.random() * 400)
  const ticket = await open(service, record)
  if (record.random() < 0.3) return void record.waiting.push(ticket)
  record.sessions.set(ticket.session_id, new Set(["pending", "failed"]))
  await service.api("POST", `/v1/agent/sessions/${ticket.session_id}/end`)
  record.sessions.set(ticket.session_id, new Set(["failed"]))
}

/** Made, changed several times, sometimes removed. */
const editTool = async (service: RunningService, record: CrashRecord): Promise<void> => {
  const headers = [{ kind: "authorization_bearer", value: secrets.tool }]
  const tool = { tool_type: "webhook", name: "Book", url: "https://api.example.com/book", headers, description: "0" }
  const { tool_id } = await service.api<{ tool_id: string }>("POST", "/v1/agent/tools", tool)
  record.tools.set(tool_id, ["0"])
  const path = `/v1/agent/tools/${tool_id}`
  const edits = Math.floor(record.random() * 6)
  const write = async (before: string, after: string | undefined, act: () => Promise<unknown>) => {
    record.tools.set(tool_id, [before, after])
    await act()
    record.tools.set(tool_id, [after])
    record.toolWrites++
    await pause(20)
  }
  for (let edit = 0; edit < edits; edit++) {
    const description = String(edit + 1)
    await write(String(edit), description, () => service.api("PATCH", path, { description }))
  }
  if (record.random() < 0.5) await write(String(edits), undefined, () => service.api("DELETE", path))
}

const publish = async (service: RunningService, record: CrashRecord): Promise<void> => {
  await pause(300 + record.random() * 500)
  const path = `/v1/agent/agents/${record.agent}`
  const prompt = { system_prompt: `You are receptionist ${record.versions + 1}.`, first_message_mode: "off" }
  await service.api("PATCH", `${path}/config`, { prompt })
  const { version_number } = await service.api<{ version_number: number }>("POST", `${path}/publish`)
  record.versions = Math.max(record.versions, version_number)
}

const happened = async (check: () => boolean): Promise<void> => {
  for (let tries = 0; !check(); tries++) {
    if (tries > 1500) throw new Error("a call did not go on for 30 seconds")
    await pause(20)
  }
}

/** Rejects 200 ms after `over` is aborted: what asks a dead service may never come back. */
const within = <A>(promise: Promise<A>, over: AbortSignal): Promise<A> => {
  const end = new Promise<never>((_resolve, reject) => {
    const tell = () => setTimeout(() => reject(new Error("the service was killed")), 200)
    if (over.aborted) tell()
    else over.addEventListener("abort", tell, { once: true })
  })
  promise.catch(() => undefined)
  return Promise.race([promise, end])
}
