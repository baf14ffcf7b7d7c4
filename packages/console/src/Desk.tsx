// The desk: the pages on the left, the one that is open beside them.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Health } from "@parley/contract/Health"
import { useEffect, useMemo, useState } from "preact/hooks"
import { Agents } from "./agent/Agents.tsx"
import { CallPage } from "./calls/CallPage.tsx"
import { CallsPage } from "./calls/CallsPage.tsx"
import { KnowledgePage } from "./knowledge/KnowledgePage.tsx"
import { PhonePage } from "./phone/PhonePage.tsx"
import { href, pages, useRoute } from "./route.ts"
import { ToolsPage } from "./tools/ToolsPage.tsx"
import { UsagePage } from "./UsagePage.tsx"

export const Desk = ({ client, onSignOut }: { readonly client: ParleyClient; readonly onSignOut: () => void }) => {
  const stable = useMemo(() => client, [])
  const { id, page, part } = useRoute()
  const [health, setHealth] = useState<Health | null>(null)
  useEffect(() => {
    const look = (): unknown => stable.health().then(setHealth, () => undefined)
    look()
    const timer = setInterval(look, lookEveryMs)
    return () => clearInterval(timer)
  }, [])

  return (
    <div class={`desk ${page}`}>
      <nav class="rail" aria-label="Pages">
        <h1>Parley</h1>
        {pages.map((name) => (
          <a key={name} href={href(name)} aria-current={name === page ? "page" : undefined}>
            {titles[name]}
          </a>
        ))}
        <footer>
          <Serving health={health} />
          <a href="/docs" target="_blank" rel="noreferrer">
            API docs
          </a>
          <button type="button" class="quiet" onClick={onSignOut}>
            Sign out
          </button>
        </footer>
      </nav>
      {page === "agents" && <Agents client={stable} chosen={id} part={part} health={health} />}
      {page === "calls" && id === "" && <CallsPage client={stable} />}
      {page === "calls" && id !== "" && <CallPage key={id} client={stable} id={id} />}
      {page === "phone" && <PhonePage client={stable} chosen={id} />}
      {page === "tools" && <ToolsPage client={stable} chosen={id} />}
      {page === "knowledge" && <KnowledgePage client={stable} chosen={id} />}
      {page === "usage" && <UsagePage client={stable} />}
    </div>
  )
}

const titles = {
  agents: "Agents",
  calls: "Calls",
  phone: "Phone numbers",
  tools: "Tools",
  knowledge: "Knowledge",
  usage: "Usage"
} as const

/** Which engine serves each part; one that is good for a demonstration only says so. */
const Serving = ({ health }: { readonly health: Health | null }) => (
  <dl class="serving">
    {Object.entries(health?.serves ?? {}).map(([part, providers]) => {
      const up = providers.find((provider) => provider.state === "up")
      return (
        <>
          <dt>{part}</dt>
          <dd class={up === undefined ? "down" : ""} title={(up ?? providers[0])?.note ?? ""}>
            {up?.name ?? "none"}
          </dd>
        </>
      )
    })}
  </dl>
)

/** Engines come and go while a person looks. */
const lookEveryMs = 4_000
