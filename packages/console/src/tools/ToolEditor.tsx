// One tool: its description for the model, its request, how it is executed, and a test request.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { Tool, ToolCreate } from "@parley/contract/Tool"
import { useState } from "preact/hooks"
import { useAction } from "../action.ts"
import { go } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { MockAnswer } from "./MockAnswer.tsx"
import { ToolHeaders } from "./ToolHeaders.tsx"
import { ToolTrial } from "./ToolTrial.tsx"

interface Props {
  readonly client: ParleyClient
  /** Undefined for a new one. */
  readonly tool: Tool | undefined
  readonly onChanged: () => Promise<void>
}

type Edited = typeof ToolCreate.Encoded

/** Creates a tool, or edits one. */
export const ToolEditor = ({ client, onChanged, tool }: Props) => {
  const [edited, setEdited] = useState<Edited>(() => (tool === undefined ? fresh : editable(tool)))
  const { act, message, problem } = useAction()
  const set = (part: Partial<Edited>): void => setEdited({ ...edited, ...part })
  const isClient = edited.tool_type === "client"

  const save = async (): Promise<string> => {
    const input = isClient ? { ...edited, url: "", headers: [] } : edited
    const saved =
      tool === undefined
        ? await client.management.tools.create(input)
        : await client.management.tools.update(tool.tool_id, input)
    setEdited(editable(saved))
    await onChanged()
    go("tools", saved.tool_id)
    return "Saved. Publish the agents that use it again to apply the change."
  }
  const remove = async (): Promise<string> => {
    if (tool !== undefined) await client.management.tools.remove(tool.tool_id)
    go("tools")
    await onChanged()
    return ""
  }
  return (
    <article aria-label="Tool">
      <Notice message={message} problem={problem} />
      <div class="pair">
        <div>
          <label for="tool-name">Name</label>
          <input
            id="tool-name"
            maxLength={120}
            value={edited.name}
            onInput={(event) => set({ name: event.currentTarget.value })}
          />
        </div>
        <div>
          <label for="tool-type">Type</label>
          <select
            id="tool-type"
            value={edited.tool_type ?? "webhook"}
            onChange={(event) => set({ tool_type: event.currentTarget.value === "client" ? "client" : "webhook" })}
          >
            <option value="webhook">Webhook</option>
            <option value="client">Client: runs in the caller's page</option>
          </select>
        </div>
      </div>
      <label for="tool-description">Description for the model</label>
      <textarea
        id="tool-description"
        rows={2}
        value={edited.description ?? ""}
        onInput={(event) => set({ description: event.currentTarget.value })}
      />
      <Arguments edited={edited} set={set} />
      {!isClient && <Request edited={edited} set={set} />}
      <Execution edited={edited} set={set} />
      <label class="check">
        <input
          type="checkbox"
          checked={edited.error_handling !== "hide"}
          onChange={(event) => set({ error_handling: event.currentTarget.checked ? "passthrough" : "hide" })}
        />
        Pass error details to the agent
      </label>
      <MockAnswer mocks={edited.mock_responses ?? []} onChange={(mock_responses) => set({ mock_responses })} />
      <div class="controls">
        <button type="button" class="primary" onClick={() => act(save)}>
          {tool === undefined ? "Create" : "Save"}
        </button>
        {tool !== undefined && (
          <button type="button" onClick={() => act(remove)}>
            Remove
          </button>
        )}
      </div>
      {tool !== undefined && tool.tool_type === "webhook" && <ToolTrial client={client} tool={tool} />}
    </article>
  )
}

interface PartProps {
  readonly edited: Edited
  readonly set: (part: Partial<Edited>) => void
}

const Arguments = ({ edited, set }: PartProps) => {
  const args = edited.arguments ?? []
  return (
    <>
      <h3>Arguments</h3>
      {args.map((arg, index) => (
        <div class="row" key={index}>
          <input
            aria-label="Argument"
            placeholder="day"
            value={arg.name}
            onInput={(event) => set({ arguments: args.with(index, { ...arg, name: event.currentTarget.value }) })}
          />
          <input
            aria-label="Description of the argument"
            placeholder="The day of the appointment, such as Monday"
            value={arg.description ?? ""}
            onInput={(event) =>
              set({ arguments: args.with(index, { ...arg, description: event.currentTarget.value }) })
            }
          />
          <button type="button" class="quiet" onClick={() => set({ arguments: args.toSpliced(index, 1) })}>
            Remove
          </button>
        </div>
      ))}
      <button type="button" onClick={() => set({ arguments: [...args, { name: "", description: "" }] })}>
        Add an argument
      </button>
    </>
  )
}

const Execution = ({ edited, set }: PartProps) => (
  <div class="pair">
    {edited.tool_type === "client" ? (
      <label class="check">
        <input
          type="checkbox"
          checked={edited.expects_response ?? true}
          onChange={(event) => set({ expects_response: event.currentTarget.checked })}
        />
        The agent waits for the answer
      </label>
    ) : (
      <div>
        <label for="tool-mode">Execution</label>
        <select
          id="tool-mode"
          value={edited.execution_mode ?? "blocking"}
          onChange={(event) =>
            set({ execution_mode: modes.find(([mode]) => mode === event.currentTarget.value)?.[0] ?? "blocking" })
          }
        >
          {modes.map(([mode, words]) => (
            <option key={mode} value={mode}>
              {words}
            </option>
          ))}
        </select>
      </div>
    )}
    <div>
      <label for="tool-timeout">Timeout in seconds</label>
      <input
        id="tool-timeout"
        type="number"
        min={1}
        max={300}
        value={edited.timeout_seconds ?? 30}
        onInput={(event) => set({ timeout_seconds: Number(event.currentTarget.value) })}
      />
    </div>
  </div>
)

const Request = ({ edited, set }: PartProps) => (
  <>
    <h3>Request</h3>
    <div class="row">
      <select
        class="method"
        aria-label="Method"
        value={edited.method ?? "POST"}
        onChange={({ currentTarget: { value } }) => set({ method: methods.find((one) => one === value) ?? "POST" })}
      >
        {methods.map((method) => (
          <option key={method}>{method}</option>
        ))}
      </select>
      <input
        type="url"
        aria-label="Address"
        placeholder="https://example.com/slots?day={{day}}"
        value={edited.url ?? ""}
        onInput={(event) => set({ url: event.currentTarget.value })}
      />
    </div>
    <ToolHeaders headers={edited.headers ?? []} onChange={(headers) => set({ headers })} />
    <label for="tool-body">Body</label>
    <textarea
      id="tool-body"
      rows={4}
      placeholder={'{"day": "{{day}}", "caller": "{{system.caller_number}}"}'}
      value={edited.body_template ?? ""}
      onInput={(event) => set({ body_template: event.currentTarget.value })}
    />
  </>
)

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const
const modes = [
  ["blocking", "the agent waits for the answer"],
  ["background", "background: the answer is reported later"],
  ["fire_and_forget", "fire and forget: the answer is not used"]
] as const

const fresh: Edited = { name: "", tool_type: "webhook", method: "POST", url: "" }

/** What is returned can be sent back; values of headers stay as they are stored. */
const editable = (tool: Tool): Edited => ({
  name: tool.name,
  tool_type: tool.tool_type,
  description: tool.description,
  arguments: tool.arguments,
  method: tool.method,
  url: tool.url,
  content_type: tool.content_type,
  body_template: tool.body_template,
  headers: tool.headers.map(({ has_secret, kind, name }) => ({ name, kind, value: null, has_secret })),
  execution_mode: tool.execution_mode,
  timeout_seconds: tool.timeout_seconds,
  error_handling: tool.error_handling,
  mock_responses: tool.mock_responses,
  expects_response: tool.expects_response
})
