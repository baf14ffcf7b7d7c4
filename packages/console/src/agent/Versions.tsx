// What was published, newest first. The first is live.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import { timeInWords } from "../inWords.ts"
import { useLoaded } from "../loaded.ts"
import { Said } from "../Said.tsx"

export const Versions = ({ agent, client }: { readonly client: ParleyClient; readonly agent: Agent }) => {
  const { problem, value } = useLoaded(() => client.agents.versions(agent.agent_id, { page_size: 100 }), [agent])
  const versions = value?.versions ?? []
  return (
    <>
      <Said problem={problem} />
      {value !== null && versions.length === 0 && <p class="hint">Nothing was published yet.</p>}
      <table>
        <tbody>
          {versions.map((version, index) => (
            <tr key={version.version_number}>
              <th scope="row">{version.version_number}</th>
              <td>{version.version_title ?? (index === 0 ? "live" : "")}</td>
              <td>{timeInWords(version.published_at)}</td>
              <td>
                <code>{version.config_hash.slice(7, 19)}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  )
}
