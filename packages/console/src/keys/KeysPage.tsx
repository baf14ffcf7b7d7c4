// The workspace's API keys: made with what they may do and until when, rotated, revoked. A secret is shown once, when its key
// is made. Below them, who changed what.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { ApiKey } from "@parley/contract/ApiKey"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { formatTime } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"
import { AuditTable } from "./AuditTable.tsx"
import { NewKey } from "./NewKey.tsx"

/** How long the former secret goes on after a rotation from here: a day, to bring the new one to where it is used. */
const overlapSeconds = 86_400

/** The page of API keys. */
export const KeysPage = ({ client }: { readonly client: ParleyClient }) => {
  const { problem, reload, value } = useLoaded(() => client.management.keys.list({ page_size: 100 }), [])
  const [secret, setSecret] = useState("")
  const action = useAction()
  const made = async (key: string): Promise<void> => {
    setSecret(key)
    await reload()
  }
  const rotate = async (key: ApiKey): Promise<string> => {
    const fresh = await client.management.keys.rotate(key.key_id, { overlap_seconds: overlapSeconds })
    await made(fresh.key)
    return `${nameOf(key)} was rotated. The former secret works for a day.`
  }
  const revoke = async (key: ApiKey): Promise<string> => {
    await client.management.keys.revoke(key.key_id)
    await reload()
    return `${nameOf(key)} was revoked.`
  }
  return (
    <section class="page" aria-label="API keys">
      <header>
        <h2>API keys</h2>
      </header>
      <Notice message={action.message} problem={action.problem || problem} />
      {secret !== "" && (
        <p class="note" role="status">
          The new key, shown only now: <code>{secret}</code>
        </p>
      )}
      <div class="halves">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Key</th>
              <th scope="col">May</th>
              <th scope="col">Used</th>
              <th scope="col">Ends</th>
              <th scope="col" aria-label="Actions" />
            </tr>
          </thead>
          <tbody>
            {(value?.keys ?? []).map((key) => (
              <tr key={key.key_id}>
                <td>
                  {key.label} <small>{key.hint}</small>
                </td>
                <td>{key.scopes.join(", ")}</td>
                <td>{formatTime(key.last_used_at) || "never"}</td>
                <td>{formatTime(key.revoked_at ?? key.expires_at) || "never"}</td>
                <td>
                  {key.revoked_at === null && (
                    <button type="button" onClick={() => action.act(() => rotate(key))}>
                      Rotate
                    </button>
                  )}{" "}
                  <button type="button" onClick={() => action.act(() => revoke(key))}>
                    Revoke
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <NewKey client={client} onMade={made} />
      </div>
      <AuditTable client={client} version={value} />
    </section>
  )
}

const nameOf = ({ hint, label }: ApiKey): string => label || hint
