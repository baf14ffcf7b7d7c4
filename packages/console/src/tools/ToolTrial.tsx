// Testing a tool as it is saved: a real request, and the whole answer.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Tool, ToolTestResult } from "@parley/contract/Tool"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { Notice } from "../Notice.tsx"

/** Sends the request of a saved tool with arguments that are typed as JSON. */
export const ToolTrial = ({ client, tool }: { readonly client: ParleyClient; readonly tool: Tool }) => {
  const [args, setArgs] = useState(() =>
    JSON.stringify(Object.fromEntries(tool.arguments.map(({ name }) => [name, ""])), null, 2)
  )
  const [result, setResult] = useState<ToolTestResult | null>(null)
  const { act, problem } = useAction()
  const send = (): Promise<void> =>
    act(async () => {
      const parsed: unknown = JSON.parse(args)
      if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
        throw new TypeError("The arguments must be a JSON object.")
      }
      setResult(await client.management.tools.test(tool.tool_id, { arguments: { ...parsed } }))
      return ""
    })
  return (
    <section aria-label="Try it">
      <h3>Try it</h3>
      <p class="hint">A real request, with the address exactly as it is saved.</p>
      <textarea
        aria-label="Arguments as JSON"
        rows={4}
        value={args}
        onInput={(event) => setArgs(event.currentTarget.value)}
      />
      <button type="button" onClick={send}>
        Send the request
      </button>
      <Notice problem={problem} />
      {result !== null && (
        <>
          <p class={result.error === null ? "note" : "problem"} role="status">
            {result.error ?? `${result.status_code ?? ""} in ${result.latency_ms} ms`}
            {result.response_truncated ? ", cut at 64 KB" : ""}
          </p>
          <pre>{result.body}</pre>
        </>
      )}
    </section>
  )
}
