// Messages and tool calls in order; of the agent only what was played to the caller.
import type { SessionItem } from "@parley/contract/SessionItem"
import { formatDuration } from "../format.ts"

/** Messages and tool calls in order, with the minutes and seconds since the call began (ISO 8601; null before). */
export const Transcript = ({
  began,
  items
}: {
  readonly items: ReadonlyArray<SessionItem>
  readonly began: string | null
}) => (
  <>
    {items.length === 0 && <p class="hint">No transcript.</p>}
    <ol class="transcript">
      {items.map((item, index) => (
        <li key={index} class={item.type === "message" ? item.role : item.type}>
          <time>{began === null ? "" : formatDuration((Date.parse(item.created_at) - Date.parse(began)) / 1000)}</time>
          <Item item={item} />
        </li>
      ))}
    </ol>
  </>
)

const Item = ({ item }: { readonly item: SessionItem }) => {
  switch (item.type) {
    case "message":
      return <p>{item.content}</p>
    case "tool_call":
      return (
        <p>
          <b>{item.tool_name}</b> <em>{item.tool_source}</em>
          <code>{item.input}</code>
        </p>
      )
    case "tool_result":
      return (
        <p class={item.status}>
          <b>{item.tool_name}</b> {item.status} in {item.latency_ms} ms
          <code>
            {item.error ?? item.output ?? ""}
            {item.output_truncated ? " ..." : ""}
          </code>
        </p>
      )
  }
}
