// Making an API key: what it is for, what it may do, until when.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { KeyScope } from "@parley/contract/ApiKey"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { Notice } from "../Notice.tsx"

interface Props {
  readonly client: ParleyClient
  /** Given the secret. */
  readonly onMade: (key: string) => Promise<void>
}

/** In the order of the form. The contract's list would bring its schemas into the page. */
const meanings: Readonly<Record<KeyScope, string>> = {
  read: "Read records and settings",
  manage: "Manage agents, tools, numbers and keys",
  speak: "Synthesis and recognition",
  call: "Start sessions and telephone calls"
}

const allScopes = Object.keys(meanings) as ReadonlyArray<KeyScope>

/** The form of a new key; all scopes and no end unless chosen. */
export const NewKey = ({ client, onMade }: Props) => {
  const [label, setLabel] = useState("")
  const [scopes, setScopes] = useState<ReadonlyArray<KeyScope>>(allScopes)
  const [lastDay, setLastDay] = useState("")
  const { act, problem } = useAction()
  const make = async (): Promise<string> => {
    const expires_at = lastDay === "" ? null : new Date(`${lastDay}T23:59:59`).toISOString()
    const { key } = await client.management.keys.create({ label, scopes, expires_at })
    setLabel("")
    await onMade(key)
    return ""
  }
  return (
    <article aria-label="New key">
      <h3>New key</h3>
      <label for="key-label">Label</label>
      <input
        id="key-label"
        maxLength={100}
        placeholder="Booking site"
        value={label}
        onInput={(event) => setLabel(event.currentTarget.value)}
      />
      {allScopes.map((scope) => (
        <label key={scope} class="check">
          <input
            type="checkbox"
            checked={scopes.includes(scope)}
            onChange={(event) => {
              const others = scopes.filter((one) => one !== scope)
              setScopes(event.currentTarget.checked ? [...others, scope] : others)
            }}
          />
          {meanings[scope]}
        </label>
      ))}
      <label for="key-end">Last day</label>
      <input id="key-end" type="date" value={lastDay} onInput={(event) => setLastDay(event.currentTarget.value)} />
      <Notice problem={problem} />
      <div class="controls">
        <button type="button" class="primary" disabled={scopes.length === 0} onClick={() => act(make)}>
          Create key
        </button>
      </div>
    </article>
  )
}
