// The published versions, newest first. The first is live.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Agent } from "@parley/contract/Agent"
import { formatTime } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"

/** The published versions of an agent, newest first. */
export const Versions = ({ agent, client }: { readonly client: ParleyClient; readonly agent: Agent }) => {
  const { problem, value } = useLoaded(() => client.agents.versions(agent.agent_id, { page_size: 100 }), [agent])
  const versions = value?.versions ?? []
  return (
    <>
      <Notice problem={problem} />
      {value !== null && versions.length === 0 && <p class="hint">No version has been published yet.</p>}
      <table>
        <tbody>
          {versions.map((version, index) => (
            <tr key={version.version_number}>
              <th scope="row">{version.version_number}</th>
              <td>{version.version_title ?? (index === 0 ? "live" : "")}</td>
              <td>{formatTime(version.published_at)}</td>
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
