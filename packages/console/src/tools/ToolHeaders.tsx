// The headers of a tool's request. A stored value is never shown; left empty it stays, until the address is another server's.
import type { HeaderKind, ToolCreate } from "@parley/contract/Tool"

type Header = NonNullable<(typeof ToolCreate.Encoded)["headers"]>[number]

interface Props {
  readonly headers: ReadonlyArray<Header>
  readonly onChange: (headers: ReadonlyArray<Header>) => void
}

/** Edits headers; a value of null is one that is stored and stays. */
export const ToolHeaders = ({ headers, onChange }: Props) => (
  <>
    {headers.map((header, index) => (
      <div class="row" key={index}>
        <select
          aria-label="Header type"
          value={header.kind ?? "custom"}
          onChange={({ currentTarget: { value } }) => {
            const kind = kinds.find(([one]) => one === value)?.[0] ?? "custom"
            onChange(
              headers.with(index, { ...header, kind, name: kind === "custom" ? "" : "Authorization", value: "" })
            )
          }}
        >
          {kinds.map(([kind, words]) => (
            <option key={kind} value={kind}>
              {words}
            </option>
          ))}
        </select>
        {(header.kind ?? "custom") === "custom" && (
          <input
            aria-label="Header"
            placeholder="X-Clinic"
            value={header.name ?? ""}
            onInput={(event) => onChange(headers.with(index, { ...header, name: event.currentTarget.value }))}
          />
        )}
        <input
          type="password"
          autoComplete="new-password"
          aria-label="Value"
          placeholder={placeholderOf(header)}
          value={header.value ?? ""}
          onInput={(event) => onChange(headers.with(index, { ...header, value: event.currentTarget.value }))}
        />
        <button type="button" class="quiet" onClick={() => onChange(headers.toSpliced(index, 1))}>
          Remove
        </button>
      </div>
    ))}
    <button type="button" onClick={() => onChange([...headers, { name: "", kind: "custom", value: "" }])}>
      Add a header
    </button>
  </>
)

const kinds: ReadonlyArray<readonly [HeaderKind, string]> = [
  ["custom", "Header"],
  ["authorization_bearer", "Bearer key"],
  ["authorization_basic", "User and password"]
]

const placeholderOf = ({ has_secret, kind, value }: Header): string => {
  if (value === null) return has_secret === false ? "not sent: no value for this address" : "stored"
  return kind === "authorization_basic" ? "user:password" : ""
}
