// The documents agents answer from: add, view, replace, remove.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { formatBytes, formatTime } from "../format.ts"
import { useAction } from "../action.ts"
import { useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Notice } from "../Notice.tsx"

interface Props {
  readonly client: ParleyClient
  /** Empty for none. */
  readonly chosen: string
}

/** The page of documents; files of up to 1 MB. */
export const KnowledgePage = ({ chosen, client }: Props) => {
  const { problem, reload, value } = useLoaded(() => client.management.knowledge.list({ page_size: 100 }), [])
  const action = useAction()
  const add = (file: File | undefined): Promise<void> =>
    action.act(async () => {
      if (file === undefined) return ""
      const source = await client.management.knowledge.create({ file })
      await reload()
      go("knowledge", source.knowledge_source_id)
      return `${source.name} was added.`
    })
  const sources = value?.knowledge_sources ?? []
  return (
    <section class="page" aria-label="Knowledge">
      <header>
        <h2>Knowledge</h2>
        <FileButton name="Add a document" onFile={add} />
      </header>
      <Notice message={action.message} problem={action.problem || problem} />
      {value !== null && sources.length === 0 && (
        <p class="hint">
          Agents answer from Markdown and text files of up to 1 MB. Add one, then select it in an agent's tools and
          knowledge.
        </p>
      )}
      <div class="halves">
        <ul class="cards">
          {sources.map((source) => (
            <li key={source.knowledge_source_id} class={source.knowledge_source_id === chosen ? "chosen" : ""}>
              <a href={href("knowledge", source.knowledge_source_id)}>{source.name}</a>
              <small>
                {formatBytes(source.size_bytes)}, {source.chunk_count} passages, revision {source.revision_number},{" "}
                {formatTime(source.updated_at)}
              </small>
            </li>
          ))}
        </ul>
        {chosen !== "" && <Source key={chosen} client={client} id={chosen} onChanged={reload} />}
      </div>
    </section>
  )
}

const Source = ({
  client,
  id,
  onChanged
}: {
  readonly client: ParleyClient
  readonly id: string
  readonly onChanged: () => Promise<void>
}) => {
  const { problem, reload, value } = useLoaded(() => client.management.knowledge.get(id), [id])
  const action = useAction()
  const replace = (file: File | undefined): Promise<void> =>
    action.act(async () => {
      if (file === undefined) return ""
      const { revision_number } = await client.management.knowledge.update(id, { file })
      await Promise.all([reload(), onChanged()])
      return `Revision ${revision_number} was saved. Publish the agents that use it again to apply it.`
    })
  const remove = async (): Promise<string> => {
    await client.management.knowledge.remove(id)
    go("knowledge")
    await onChanged()
    return ""
  }
  if (value === null) return <Notice problem={problem} />
  return (
    <article>
      <h3>{value.name}</h3>
      <div class="controls">
        <FileButton name="Replace" onFile={replace} />
        <button type="button" onClick={() => action.act(remove)}>
          Remove
        </button>
      </div>
      <Notice message={action.message} problem={action.problem} />
      <pre class="document">{value.content}</pre>
    </article>
  )
}

const FileButton = ({ name, onFile }: { readonly name: string; readonly onFile: (file: File | undefined) => void }) => (
  <label class="button">
    {name}
    <input
      type="file"
      accept=".md,.txt,text/plain,text/markdown"
      onChange={(event) => {
        onFile(event.currentTarget.files?.[0])
        event.currentTarget.value = ""
      }}
    />
  </label>
)
