// The documents agents answer from: add, look into, replace, remove.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { bytesInWords, timeInWords } from "../inWords.ts"
import { useDoing, useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Said } from "../Said.tsx"

interface Props {
  readonly client: ParleyClient
  /** Empty for none. */
  readonly chosen: string
}

export const KnowledgePage = ({ chosen, client }: Props) => {
  const { problem, reload, value } = useLoaded(() => client.office.knowledge.list({ page_size: 100 }), [])
  const doing = useDoing()
  const add = (file: File | undefined): Promise<void> =>
    doing.act(async () => {
      if (file === undefined) return ""
      const source = await client.office.knowledge.create({ file })
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
      <Said said={doing.said} problem={doing.problem || problem} />
      {value !== null && sources.length === 0 && (
        <p class="hint">
          Agents answer from Markdown and text files of up to 1 MB. Add one, then choose it among an agent's abilities.
        </p>
      )}
      <div class="halves">
        <ul class="cards">
          {sources.map((source) => (
            <li key={source.knowledge_source_id} class={source.knowledge_source_id === chosen ? "chosen" : ""}>
              <a href={href("knowledge", source.knowledge_source_id)}>{source.name}</a>
              <small>
                {bytesInWords(source.size_bytes)}, {source.chunk_count} passages, revision {source.revision_number},{" "}
                {timeInWords(source.updated_at)}
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
  const { problem, reload, value } = useLoaded(() => client.office.knowledge.get(id), [id])
  const doing = useDoing()
  const replace = (file: File | undefined): Promise<void> =>
    doing.act(async () => {
      if (file === undefined) return ""
      const { revision_number } = await client.office.knowledge.update(id, { file })
      await Promise.all([reload(), onChanged()])
      return `Revision ${revision_number} is there; published agents answer from it when they are published again.`
    })
  const remove = async (): Promise<string> => {
    await client.office.knowledge.remove(id)
    go("knowledge")
    await onChanged()
    return ""
  }
  if (value === null) return <Said problem={problem} />
  return (
    <article>
      <h3>{value.name}</h3>
      <div class="controls">
        <FileButton name="Replace" onFile={replace} />
        <button type="button" onClick={() => doing.act(remove)}>
          Remove
        </button>
      </div>
      <Said said={doing.said} problem={doing.problem} />
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
