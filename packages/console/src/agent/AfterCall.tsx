// What happens after a call: recording, analysis, webhooks.
import type { DraftProps } from "./draft.ts"

type Field = DraftProps["draft"]["analysis"]["data_fields"][number]
const types = ["text", "boolean", "number", "enum"] as const

/** The tab of recording, analysis and webhooks. */
export const AfterCall = ({ change, draft }: DraftProps) => {
  const { analysis, conversation } = draft
  return (
    <>
      <label class="check">
        <input
          type="checkbox"
          checked={conversation.record_audio}
          onChange={(event) => change({ conversation: { ...conversation, record_audio: event.currentTarget.checked } })}
        />
        Record both sides
      </label>
      <label class="check">
        <input
          type="checkbox"
          checked={analysis.summary.enabled}
          onChange={(event) =>
            change({
              analysis: { ...analysis, summary: { ...analysis.summary, enabled: event.currentTarget.checked } }
            })
          }
        />
        Summarise the conversation
      </label>
      <DataFields draft={draft} change={change} />
      <Criteria draft={draft} change={change} />
      <Webhooks draft={draft} change={change} />
    </>
  )
}

const DataFields = ({ change, draft: { analysis } }: DraftProps) => {
  const fields = (data_fields: ReadonlyArray<Field>): void => change({ analysis: { ...analysis, data_fields } })
  return (
    <>
      <h3>Data to extract</h3>
      {analysis.data_fields.map((field, index) => (
        <div class="row" key={index}>
          <input
            aria-label="Field name"
            placeholder="appointment_day"
            value={field.name}
            onInput={(event) => fields(analysis.data_fields.with(index, { ...field, name: event.currentTarget.value }))}
          />
          <select
            aria-label="Type"
            value={field.type}
            onChange={({ currentTarget: { value } }) => {
              const type = types.find((one) => one === value) ?? "text"
              const enum_options = type === "enum" ? field.enum_options : []
              fields(analysis.data_fields.with(index, { ...field, type, enum_options }))
            }}
          >
            {types.map((type) => (
              <option key={type} value={type}>
                {type === "enum" ? "one of" : type}
              </option>
            ))}
          </select>
          <input
            aria-label="Description"
            placeholder={field.type === "enum" ? "Monday, Tuesday, ..." : "What the value means"}
            value={field.type === "enum" ? field.enum_options.join(", ") : field.description}
            onChange={({ currentTarget: { value } }) =>
              fields(
                analysis.data_fields.with(
                  index,
                  field.type === "enum" ? { ...field, enum_options: wordsOf(value) } : { ...field, description: value }
                )
              )
            }
          />
          <Remove onClick={() => fields(analysis.data_fields.toSpliced(index, 1))} />
        </div>
      ))}
      <button
        type="button"
        onClick={() => fields([...analysis.data_fields, { name: "", type: "text", description: "", enum_options: [] }])}
      >
        Add a field
      </button>
    </>
  )
}

const Criteria = ({ change, draft: { analysis } }: DraftProps) => {
  const criteria = (list: typeof analysis.criteria): void => change({ analysis: { ...analysis, criteria: list } })
  return (
    <>
      <h3>Success criteria</h3>
      {analysis.criteria.map((criterion, index) => (
        <div class="row" key={index}>
          <input
            aria-label="Criterion"
            placeholder="appointment_booked"
            value={criterion.name}
            onInput={(event) =>
              criteria(analysis.criteria.with(index, { ...criterion, name: event.currentTarget.value }))
            }
          />
          <input
            aria-label="When it is met"
            placeholder="The caller agreed to a day and a time"
            value={criterion.description}
            onInput={(event) =>
              criteria(analysis.criteria.with(index, { ...criterion, description: event.currentTarget.value }))
            }
          />
          <Remove onClick={() => criteria(analysis.criteria.toSpliced(index, 1))} />
        </div>
      ))}
      <button type="button" onClick={() => criteria([...analysis.criteria, { name: "", description: "" }])}>
        Add a criterion
      </button>
    </>
  )
}

const Webhooks = ({ change, draft: { webhooks } }: DraftProps) => {
  const endpoints = (post_call: typeof webhooks.post_call): void => change({ webhooks: { ...webhooks, post_call } })
  return (
    <>
      <h3>Webhooks</h3>
      <p class="hint">
        Sent when a call has ended and again when it has been analysed, in this order; three attempts each.
      </p>
      {webhooks.post_call.map((endpoint, index) => (
        <div class="row" key={index}>
          <input
            type="url"
            aria-label="Address"
            placeholder="https://example.com/calls"
            value={endpoint.url}
            onInput={(event) =>
              endpoints(webhooks.post_call.with(index, { ...endpoint, url: event.currentTarget.value }))
            }
          />
          <input
            type="password"
            autoComplete="new-password"
            aria-label="Secret"
            placeholder={endpoint.has_secret ? "a secret is set" : "secret to sign with"}
            value={endpoint.secret ?? ""}
            onInput={(event) =>
              endpoints(webhooks.post_call.with(index, { ...endpoint, secret: event.currentTarget.value }))
            }
          />
          <Remove onClick={() => endpoints(webhooks.post_call.toSpliced(index, 1))} />
        </div>
      ))}
      {webhooks.post_call.length < 5 && (
        <button type="button" onClick={() => endpoints([...webhooks.post_call, { url: "", has_secret: false }])}>
          Add an address
        </button>
      )}
    </>
  )
}

const Remove = ({ onClick }: { readonly onClick: () => void }) => (
  <button type="button" class="quiet" aria-label="Remove" onClick={onClick}>
    Remove
  </button>
)

const wordsOf = (list: string): ReadonlyArray<string> =>
  list
    .split(",")
    .map((word) => word.trim())
    .filter((word) => word !== "")
