// What a PATCH makes of the stored configuration: a section that is sent replaces the stored one,
// one that is not sent stays. Pure but for `seal`. Write-only secrets survive where the rules let them: a
// webhook's by its url, the model endpoint's key by its base_url (a key never follows to another host).
// A value equal to the stored one is never refused, so that a returned config can always be sent back.
import { Result, Schema } from "effect"
import { fault, type Fault } from "../Fault.ts"
import { type ConfigPatch, StoredConfig } from "./AgentConfig.ts"
import { unknownSystemNames } from "../SystemVariables.ts"
import type { LlmPatch, StoredLlm } from "./Llm.ts"
import type { StoredWebhooks, WebhooksPatch } from "./Webhooks.ts"

/** What exists on this platform and in this workspace. */
export interface Catalogue {
  /** Voice model ids; the empty id is always known. */
  readonly voices: ReadonlySet<string>
  /** The first is the default. */
  readonly asrModels: readonly [string, ...ReadonlyArray<string>]
  readonly llmModels: readonly [string, ...ReadonlyArray<string>]
  readonly toolIds: ReadonlySet<string>
  readonly knowledgeSourceIds: ReadonlySet<string>
  /** None when left out. */
  readonly mcpServerIds?: ReadonlySet<string> | undefined
  /** What is wrong with an address the service is told to call, or undefined. */
  readonly urlFault: (url: string, rules: UrlRules) => string | undefined
}

/** Which addresses a field takes. */
export interface UrlRules {
  /** Schemes with the colon: `https:`. */
  readonly schemes: ReadonlyArray<string>
  readonly queryAllowed: boolean
}

/** Seals a secret for storing; gives back `previous` when it already seals the same text. */
export type Seal = (plain: string, previous: string | null) => string

/** The configuration of an agent that was told nothing. */
export const defaultConfig = (catalogue: Catalogue): StoredConfig =>
  Schema.decodeSync(StoredConfig)({
    asr: { model: catalogue.asrModels[0] },
    knowledge_base: { enabled: false },
    llm: { model: catalogue.llmModels[0] }
  })

/** The configuration with the patch, or every field that is wrong. */
export const patchConfig = (
  stored: StoredConfig,
  patch: ConfigPatch,
  catalogue: Catalogue,
  seal: Seal
): Result.Result<StoredConfig, ReadonlyArray<Fault>> => {
  const faults: Array<Fault> = []
  const blame = (path: ReadonlyArray<string | number>, msg: string) => faults.push(fault(["body", ...path], msg))

  if (
    patch.voice &&
    patch.voice.voice_id !== stored.voice.voice_id &&
    !isKnown(patch.voice.voice_id, catalogue.voices)
  ) {
    blame(["voice", "voice_id"], "unknown voice")
  }
  const asrModel = patch.asr?.model ?? catalogue.asrModels[0]
  if (patch.asr && asrModel !== stored.asr.model && !catalogue.asrModels.includes(asrModel)) {
    blame(["asr", "model"], "unknown model")
  }
  for (const [path, template] of templatesOf(patch)) {
    const known = templatesOf(stored).some(([, text]) => text === template)
    if (!known && unknownSystemNames(template).length > 0) blame(path, "names an unknown system variable")
  }
  patch.tools?.tool_ids.forEach((id, index) => {
    if (!catalogue.toolIds.has(id) && !stored.tools.tool_ids.includes(id))
      blame(["tools", "tool_ids", index], "unknown tool")
  })
  patch.tools?.mcp_server_ids?.forEach((id, index) => {
    if (!catalogue.mcpServerIds?.has(id) && !stored.tools.mcp_server_ids?.includes(id))
      blame(["tools", "mcp_server_ids", index], "unknown MCP server")
  })
  patch.knowledge_base?.knowledge_source_ids.forEach((id, index) => {
    if (catalogue.knowledgeSourceIds.has(id) || stored.knowledge_base.knowledge_source_ids.includes(id)) return
    blame(["knowledge_base", "knowledge_source_ids", index], "unknown knowledge source")
  })

  const next: StoredConfig = {
    prompt: patch.prompt ?? stored.prompt,
    voice: patch.voice ?? stored.voice,
    asr: patch.asr ? { ...patch.asr, model: asrModel } : stored.asr,
    conversation: patch.conversation ?? stored.conversation,
    tools: patch.tools === undefined ? stored.tools : withoutEmpty(patch.tools),
    webhooks: patch.webhooks ? patchWebhooks(stored.webhooks, patch.webhooks, catalogue, seal, blame) : stored.webhooks,
    knowledge_base: patch.knowledge_base
      ? {
          ...patch.knowledge_base,
          enabled: patch.knowledge_base.enabled ?? patch.knowledge_base.knowledge_source_ids.length > 0
        }
      : stored.knowledge_base,
    analysis: patch.analysis ?? stored.analysis,
    guardrails: patch.guardrails ?? stored.guardrails,
    llm: patch.llm ? patchLlm(stored.llm, patch.llm, catalogue, seal, blame) : stored.llm
  }
  return faults.length > 0 ? Result.fail(faults) : Result.succeed(next)
}

/** Texts in which variables render. */
const templatesOf = ({
  conversation,
  prompt
}: Pick<ConfigPatch, "conversation" | "prompt">): ReadonlyArray<
  readonly [path: ReadonlyArray<string | number>, template: string]
> => [
  ...(prompt === undefined
    ? []
    : (["system_prompt", "first_message", "first_message_prompt"] as const).map(
        (name) => [["prompt", name], prompt[name]] as const
      )),
  ...(conversation?.transfer_destinations ?? []).map(
    ({ warm_briefing_instructions }, index) =>
      [
        ["conversation", "transfer_destinations", index, "warm_briefing_instructions"],
        warm_briefing_instructions
      ] as const
  )
]

const withoutEmpty = ({ mcp_server_ids = [], ...tools }: StoredConfig["tools"]): StoredConfig["tools"] =>
  mcp_server_ids.length === 0 ? tools : { ...tools, mcp_server_ids: [...new Set(mcp_server_ids)] }

type Blame = (path: ReadonlyArray<string | number>, msg: string) => void

const patchWebhooks = (
  stored: StoredWebhooks,
  patch: WebhooksPatch,
  catalogue: Catalogue,
  seal: Seal,
  blame: Blame
): StoredWebhooks => {
  const rules = { schemes: ["https:", "http:"], queryAllowed: true }
  const known = new Set([stored.conversation_init?.url, ...stored.post_call.map(({ url }) => url)])
  const check = (url: string, path: ReadonlyArray<string | number>) => {
    const wrong = known.has(url) ? undefined : catalogue.urlFault(url, rules)
    if (wrong !== undefined) blame(["webhooks", ...path, "url"], wrong)
  }
  const keep = (secret: string | null | undefined, previous: string | null) =>
    secret === undefined || secret === null ? previous : secret === "" ? null : seal(secret, previous)

  const init = patch.conversation_init
  if (init !== null) check(init.url, ["conversation_init"])
  patch.post_call.forEach(({ url }, index) => {
    check(url, ["post_call", index])
    if (patch.post_call.findIndex((other) => other.url === url) < index) {
      blame(["webhooks", "post_call", index, "url"], "must be unique")
    }
  })
  const previousInit = stored.conversation_init
  return {
    conversation_init:
      init === null
        ? null
        : {
            url: init.url,
            secret: keep(init.secret, previousInit?.url === init.url ? previousInit.secret : null),
            timeout_seconds: init.timeout_seconds
          },
    post_call: patch.post_call.map(({ secret, url }) => ({
      url,
      secret: keep(secret, stored.post_call.find((entry) => entry.url === url)?.secret ?? null)
    }))
  }
}

const patchLlm = (stored: StoredLlm, patch: LlmPatch, catalogue: Catalogue, seal: Seal, blame: Blame): StoredLlm => {
  const { custom } = patch
  if (custom === null) {
    const model = patch.model ?? catalogue.llmModels[0]
    if (model !== stored.model && !catalogue.llmModels.includes(model)) blame(["llm", "model"], "unknown model")
    return { model, custom: null }
  }
  if (patch.model !== undefined && patch.model !== null)
    blame(["llm", "model"], "cannot be set together with llm.custom")
  const baseUrl = custom.base_url
    .replace(/\/+$/, "")
    .replace(/\/chat\/completions$/, "")
    .replace(/\/+$/, "")
  const previous = stored.custom?.base_url === baseUrl ? stored.custom.api_key : null
  if (stored.custom?.base_url !== baseUrl) {
    const rules = { schemes: ["https:"], queryAllowed: false }
    const wrong = catalogue.urlFault(custom.base_url, rules)
    if (wrong !== undefined) blame(["llm", "custom", "base_url"], wrong)
  }
  const given = custom.api_key ?? ""
  if (given === "" && previous === null) blame(["llm", "custom", "api_key"], "is required for this base_url")
  const key = given === "" ? (previous ?? "") : seal(given, previous)
  return { model: null, custom: { base_url: baseUrl, model: custom.model, api_key: key } }
}

const isKnown = (id: string, known: ReadonlySet<string>): boolean => id === "" || known.has(id)
