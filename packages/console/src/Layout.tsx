// The console after signing in: the navigation on the left, the open page beside it.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Health } from "@parley/contract/Health"
import { useEffect, useMemo, useState } from "preact/hooks"
import { Agents } from "./agent/Agents.tsx"
import { CallPage } from "./calls/CallPage.tsx"
import { CallsPage } from "./calls/CallsPage.tsx"
import { KeysPage } from "./keys/KeysPage.tsx"
import { KnowledgePage } from "./knowledge/KnowledgePage.tsx"
import { PhonePage } from "./phone/PhonePage.tsx"
import { href, pages, useRoute } from "./route.ts"
import { ToolsPage } from "./tools/ToolsPage.tsx"
import { UsagePage } from "./UsagePage.tsx"

/** The navigation with the state of the engines, and the page that is open. `client` is taken once. */
export const Layout = ({ client, onSignOut }: { readonly client: ParleyClient; readonly onSignOut: () => void }) => {
  const stable = useMemo(() => client, [])
  const { id, page, part } = useRoute()
  const [health, setHealth] = useState<Health | null>(null)
  useEffect(() => {
    const read = (): unknown => stable.health().then(setHealth, () => undefined)
    read()
    const timer = setInterval(read, readHealthEveryMs)
    return () => clearInterval(timer)
  }, [])

  return (
    <div class={`layout ${page}`}>
      <nav class="rail" aria-label="Pages">
        <h1>Parley</h1>
        {pages.map((name) => (
          <a key={name} href={href(name)} aria-current={name === page ? "page" : undefined}>
            {titles[name]}
          </a>
        ))}
        <footer>
          <Engines health={health} />
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
      {page === "keys" && <KeysPage client={stable} />}
    </div>
  )
}

const titles = {
  agents: "Agents",
  calls: "Calls",
  phone: "Phone numbers",
  tools: "Tools",
  knowledge: "Knowledge",
  usage: "Usage",
  keys: "API keys"
} as const

/** The engine that serves each part; one that is meant for demonstrations has a note. */
const Engines = ({ health }: { readonly health: Health | null }) => (
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

/** Engines can fail and recover while the page is open. */
const readHealthEveryMs = 4_000
