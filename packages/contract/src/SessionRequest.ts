// The body of POST /v1/agent/sessions, and what is kept of it. An unknown field or override is
// 422; whether an override is allowed is the agent's affair (400). An invalid `client_timezone` is ignored and an
// invalid dynamic variable dropped, so both are taken as they come. Null counts as absent.
import { Schema } from "effect"
import { systemPromptChars } from "./AgentConfig/Prompt.ts"
import { jsonObject, text } from "./Field.ts"
import { Language } from "./Language.ts"
import { Timezone } from "./Timezone.ts"

const maybe = <S extends Schema.Top>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** What replaces parts of the configuration for one session. */
export const Overrides = Schema.Struct({
  first_message: maybe(text(10_000)),
  first_message_prompt: maybe(text(10_000)),
  system_prompt: maybe(text(systemPromptChars)),
  voice_id: maybe(text(256)),
  language: maybe(Language)
}).check(
  Schema.makeFilter((used) =>
    used.first_message != null && used.first_message_prompt != null
      ? { path: ["first_message_prompt"], issue: "cannot be set together with first_message" }
      : undefined
  )
)
export type Overrides = typeof Overrides.Type

const talk = {
  agent_id: text(128),
  timezone: maybe(Timezone),
  client_timezone: Schema.optionalKey(Schema.Unknown),
  world_context: maybe(Schema.Boolean),
  overrides: maybe(Overrides),
  dynamic_variables: maybe(Schema.Record(Schema.String, Schema.Unknown)),
  end_user_id: maybe(text(256)),
  llm_extra_body: maybe(jsonObject(16 * 1024)),
  tool_events: maybe(Schema.Boolean),
  record_audio: maybe(Schema.Boolean)
}

/** The body that opens a session. */
export const SessionCreate = Schema.Struct({
  ...talk,
  name: maybe(text(128)),
  metadata: maybe(jsonObject(64 * 1024))
})
export type SessionCreate = typeof SessionCreate.Type

/** The agent is named by the path. */
export const PreviewCreate = Schema.Struct({ ...talk, agent_id: Schema.optionalKey(text(128)) })
export type PreviewCreate = typeof PreviewCreate.Type

const maxVariables = 50
const maxVariableChars = 1000

/** Values of placeholders by name. */
export const DynamicVariables = Schema.Record(
  Schema.String,
  Schema.Union([Schema.String, Schema.Finite, Schema.Boolean])
)
export type DynamicVariables = typeof DynamicVariables.Type

/** The first 50 entries are read; those that break the rules are dropped one by one. */
export const readVariables = (given: Readonly<Record<string, unknown>>): DynamicVariables =>
  Object.fromEntries(
    Object.entries(given)
      .slice(0, maxVariables)
      .filter((entry): entry is [string, string | number | boolean] => {
        const [name, value] = entry
        if (!/^[A-Za-z][A-Za-z0-9_]*$/.test(name)) return false
        if (typeof value === "string") {
          return value.length <= maxVariableChars && value.isWellFormed() && !value.includes("\0")
        }
        return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))
      })
  )
