// Attacks by HTTP: bodies that are large, deep or wide, keys that are guessed, places that are held.
import { WebSocket } from "ws"
import { type Attack, isStall, type Target, visitorHeaders } from "./Target.ts"

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`

const post = async ({ service }: Target, path: string, headers: Record<string, string>, body: string) => {
  const response = await fetch(service.url + path, { method: "POST", headers, body })
  await response.arrayBuffer()
  return response.status
}

const visitorBodies: Attack = {
  name: "nested and large bodies of visitors",
  run: async (target, strength) => {
    const statuses: Array<number> = []
    const { longestMs } = await target.watch(async () => {
      for (let i = 0; i < 4 * strength; i++) {
        const headers = { ...visitorHeaders, "x-forwarded-for": `203.0.113.${i}` }
        for (const metadata of [nested(20_000), nested(30_000), `"${"a".repeat(3_000_000)}"`]) {
          statuses.push(
            await post(target, "/v1/agent/sessions", headers, `{"agent_id":"${target.agentId}","metadata":${metadata}}`)
          )
        }
      }
    })
    const wrong = statuses.filter((status) => status < 400 || status >= 500)
    return {
      figure: `${[...new Set(statuses)].join(", ")}; others waited ${longestMs} ms`,
      faults: [
        ...wrong.map((status) => `a nested body was answered ${status}`),
        ...(isStall(longestMs, strength) ? [`others waited ${longestMs} ms`] : [])
      ]
    }
  }
}

const ownerBodies: Attack = {
  name: "wide bodies of 4 MiB with a key",
  run: async (target, strength) => {
    const { key } = target.service
    const headers = { "content-type": "application/json", authorization: `Bearer ${key}` }
    const wide = [
      `{"name":"a","config":{"tools":{"tool_ids":[${Array.from({ length: 1_000_000 }, () => 0).join(",")}]}}}`,
      `{"name":"a","config":{${Array.from({ length: 200_000 }, (_, i) => `"k${i}":1`).join(",")}}}`,
      `{"name":"a","description":"${"a".repeat(4_000_000)}"}`
    ]
    const statuses: Array<number> = []
    let longest = 0
    for (let i = 0; i < strength; i++) {
      for (const body of wide) {
        const { longestMs } = await target.watch(async () => {
          statuses.push(await post(target, "/v1/agent/agents", headers, body))
        })
        longest = Math.max(longest, longestMs)
      }
    }
    const wrong = statuses.filter((status) => status < 400 || status >= 500)
    return {
      figure: `${[...new Set(statuses)].join(", ")}; others waited ${longest} ms`,
      faults: [
        ...wrong.map((status) => `a wide body was answered ${status}`),
        ...(isStall(longest, strength) ? [`others waited ${longest} ms`] : [])
      ]
    }
  }
}

const guessedKeys: Attack = {
  name: "guessed keys from one address",
  run: async ({ service }, strength) => {
    const began = performance.now()
    const statuses = await Promise.all(
      Array.from({ length: 100 * strength }, async (_, i) => {
        const headers = { authorization: `Bearer guess${i}`, "x-forwarded-for": "198.51.100.77" }
        return (await fetch(`${service.url}/v1/agent/agents`, { headers })).status
      })
    )
    const judged = statuses.filter((status) => status === 401).length
    const perSecond = Math.round((judged * 1000) / (performance.now() - began))
    return {
      figure: `${judged} of ${statuses.length} judged, ${perSecond} a second`,
      faults: judged > 40 ? [`${judged} keys were judged for one address`] : []
    }
  }
}

interface Ticket {
  readonly rtc_url: string
  readonly token: string
}

const join = ({ rtc_url, token }: Ticket) =>
  new Promise<readonly [WebSocket, number]>((resolve) => {
    const ws = new WebSocket(`${rtc_url}/rtc?access_token=${token}&protocol=16`)
    ws.on("open", () => resolve([ws, 101]))
    ws.on("unexpected-response", (_, { statusCode = 0 }) => resolve([ws, statusCode]))
    ws.on("error", () => undefined)
  })

const heldPlaces: Attack = {
  name: "joins without media at PARLEY_MAX_CALLS=4",
  run: async (target) => {
    const ticket = () => target.service.api<Ticket>("POST", "/v1/agent/sessions", { agent_id: target.agentId })
    const tickets = await Promise.all(Array.from({ length: 5 }, ticket))
    const silent = []
    for (const one of tickets.slice(0, 4)) silent.push(await join(one))
    const began = performance.now()
    let status = 0
    let honest: WebSocket | undefined
    while (status !== 101 && performance.now() - began < 20_000) {
      const [ws, answered] = await join(tickets[4] ?? (await ticket()))
      status = answered
      honest = ws
      if (answered !== 101) await new Promise((later) => setTimeout(later, 100))
    }
    const waitedMs = Math.round(performance.now() - began)
    for (const [ws] of silent) ws.terminate()
    honest?.terminate()
    return {
      figure: `an honest caller was in after ${waitedMs} ms`,
      faults: waitedMs > 5_000 ? [`four silent joins kept an honest caller out for ${waitedMs} ms`] : []
    }
  }
}

const metricsOutside: Attack = {
  name: "/metrics from outside",
  run: async ({ service }) => {
    const { status } = await fetch(`${service.url}/metrics`, { headers: { "x-forwarded-for": "203.0.113.9" } })
    return { figure: String(status), faults: status === 401 ? [] : [`answered ${status}`] }
  }
}

export const bodyAttacks: ReadonlyArray<Attack> = [visitorBodies, ownerBodies, guessedKeys, heldPlaces, metricsOutside]
