// The agent record and its versions.
import { Schema } from "effect"
import { ConfigPatch, ReturnedSections } from "./AgentConfig/AgentConfig.ts"
import { listOf, text, textBetween } from "./Field.ts"
import { pageFields } from "./Page.ts"

/** An archived agent is left out of lists and takes no calls. */
export const AgentStatus = Schema.Literals(["active", "archived"])
/** `live` once a version was published. */
const PublicationState = Schema.Literals(["live", "draft"])

/** What a session may override when the agent allows it; `first_message_prompt` rides on `first_message`. */
export const OverrideName = Schema.Literals(["first_message", "system_prompt", "voice_id", "language"])
export type OverrideName = typeof OverrideName.Type

/** Fields of a session that a visitor without a key may set only where the agent allows it. */
export const PublicField = Schema.Literals([
  "dynamic_variables",
  "end_user_id",
  "llm_extra_body",
  "metadata",
  "record_audio",
  "tool_events"
])
export type PublicField = typeof PublicField.Type

/** An agent as it is returned; its configuration is a resource of its own. */
export const Agent = Schema.Struct({
  agent_id: Schema.String,
  workspace_id: Schema.String,
  name: Schema.String,
  description: Schema.String,
  status: AgentStatus,
  publication_state: PublicationState,
  public_enabled: Schema.Boolean,
  allowed_origins: Schema.Array(Schema.String),
  overrides_allowed: Schema.Array(OverrideName),
  /** What sessions of visitors may carry besides. Without `tool_events` they are not told of tools. */
  public_fields_allowed: Schema.Array(PublicField),
  created_at: Schema.String,
  updated_at: Schema.String
})
export type Agent = typeof Agent.Type

const name = textBetween(1, 120)
const description = text(2000)

/** `config` is a patch of the default configuration. */
export const AgentCreate = Schema.Struct({
  name,
  description: Schema.optionalKey(description),
  config: Schema.optionalKey(ConfigPatch)
})
export type AgentCreate = typeof AgentCreate.Type

const origin = text(300).check(
  Schema.isPattern(/^https?:\/\/[^/?#@\s]+$/i, { message: "must be an origin: scheme, host and port only" })
)

/** What is omitted stays. */
export const AgentPatch = Schema.Struct({
  name: Schema.optionalKey(name),
  description: Schema.optionalKey(description),
  status: Schema.optionalKey(AgentStatus),
  public_enabled: Schema.optionalKey(Schema.Boolean),
  allowed_origins: Schema.optionalKey(listOf(origin, 20)),
  overrides_allowed: Schema.optionalKey(
    listOf(OverrideName, 8).check(Schema.isUnique({ message: "must not repeat an entry" }))
  ),
  public_fields_allowed: Schema.optionalKey(
    listOf(PublicField, 8).check(Schema.isUnique({ message: "must not repeat an entry" }))
  )
})
export type AgentPatch = typeof AgentPatch.Type

/** `name` defaults to the original's with "(copy)". */
export const AgentDuplicate = Schema.Struct({ name: Schema.optionalKey(name) })

/** One page, newest first. */
export const AgentPage = Schema.Struct({ agents: Schema.Array(Agent), ...pageFields })

/** Title and description of the version; both may be left out. */
export const Publish = Schema.Struct({
  version_title: Schema.optionalKey(Schema.NullOr(text(120))),
  version_description: Schema.optionalKey(Schema.NullOr(text(2000)))
})
export type Publish = typeof Publish.Type

/** A published version without its configuration. */
export const VersionSummary = Schema.Struct({
  version_number: Schema.Int,
  version_title: Schema.NullOr(Schema.String),
  version_description: Schema.NullOr(Schema.String),
  config_hash: Schema.String,
  published_at: Schema.String
})
export type VersionSummary = typeof VersionSummary.Type

/** A published version with its configuration, secrets left out. */
export const Version = Schema.Struct({ ...VersionSummary.fields, config: ReturnedSections })
export type Version = typeof Version.Type

/** One page, newest first. */
export const VersionPage = Schema.Struct({ versions: Schema.Array(VersionSummary), ...pageFields })
