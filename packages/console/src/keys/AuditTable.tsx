// Who changed what, newest first.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { formatName, formatTime } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"

/** The last hundred changes; `version` reads them again when it changes. */
export const AuditTable = ({ client, version }: { readonly client: ParleyClient; readonly version: unknown }) => {
  const { problem, value } = useLoaded(() => client.management.audit.list({ page_size: 100 }), [version])
  return (
    <section aria-label="Changes">
      <h3>Changes</h3>
      <Notice problem={problem} />
      {value?.audit_entries.length === 0 && <p class="hint">Nothing was changed yet.</p>}
      <table class="rows">
        <tbody>
          {(value?.audit_entries ?? []).map((entry) => (
            <tr key={entry.audit_entry_id}>
              <td>{formatTime(entry.created_at)}</td>
              <td>{entry.action}</td>
              <td>
                {formatName(entry.resource_type ?? "")} <small>{entry.resource_id}</small>
              </td>
              <td>
                {entry.key_label} <small>{entry.key_id}</small>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
