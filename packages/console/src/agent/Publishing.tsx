// Before a draft is published: how it differs from the live version, and a title for the new one.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { useState } from "preact/hooks"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"
import { differences } from "./differences.ts"

interface Props {
  readonly client: ParleyClient
  readonly agentId: string
  /** The version that is live. */
  readonly live: number
  readonly onPublish: (title: string) => void
  readonly onLeave: () => void
}

/** Compares the draft with the live version. `onPublish` gets the title, empty for none. */
export const Publishing = ({ agentId, client, live, onLeave, onPublish }: Props) => {
  const [title, setTitle] = useState("")
  const { problem, value } = useLoaded(async () => {
    const [version, draft] = await Promise.all([client.agents.version(agentId, live), client.agents.config(agentId)])
    return { found: differences(version.config, draft), equal: version.config_hash === draft.config_hash }
  }, [])
  return (
    <section class="publishing" aria-label="Changes">
      <h3>Changes since version {live}</h3>
      <Notice problem={problem} />
      {value !== null && value.found.length === 0 && (
        <p>
          {value.equal
            ? "No changes: the draft is already live."
            : "Only secrets or keys have changed; they are not shown."}
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
          placeholder="Title (optional)"
          maxLength={120}
          value={title}
          onInput={(event) => setTitle(event.currentTarget.value)}
        />
        <button type="button" class="primary" onClick={() => onPublish(title.trim())}>
          Publish version
        </button>
        <button type="button" onClick={onLeave}>
          Cancel
        </button>
      </div>
    </section>
  )
}
