// Before the draft becomes what callers hear: how it differs from what they hear now, and a title for it.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { useState } from "preact/hooks"
import { useLoaded } from "../loaded.ts"
import { Said } from "../Said.tsx"
import { differences } from "./differences.ts"

interface Props {
  readonly client: ParleyClient
  readonly agentId: string
  /** The version that is live. */
  readonly live: number
  readonly onPublish: (title: string) => void
  readonly onLeave: () => void
}

export const Publishing = ({ agentId, client, live, onLeave, onPublish }: Props) => {
  const [title, setTitle] = useState("")
  const { problem, value } = useLoaded(async () => {
    const [version, draft] = await Promise.all([client.agents.version(agentId, live), client.agents.config(agentId)])
    return { found: differences(version.config, draft), equal: version.config_hash === draft.config_hash }
  }, [])
  return (
    <section class="publishing" aria-label="What is new">
      <h3>What is new since version {live}</h3>
      <Said problem={problem} />
      {value !== null && value.found.length === 0 && (
        <p>
          {value.equal
            ? "Nothing: the draft is what callers hear already."
            : "Nothing that is shown; a secret or a key is another."}
        </p>
      )}
      <dl class="facts">
        {(value?.found ?? []).map(({ changes, section }) => (
          <>
            <dt>{section}</dt>
            <dd>
              {changes.map((change) => (
                <div key={change}>{change}</div>
              ))}
            </dd>
          </>
        ))}
      </dl>
      <div class="row">
        <input
          aria-label="Title of the version"
          placeholder="A title, if you like"
          maxLength={120}
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
        <button type="button" class="primary" onClick={() => onPublish(title.trim())}>
          Publish it
        </button>
        <button type="button" onClick={onLeave}>
          Not yet
        </button>
      </div>
    </section>
  )
}
