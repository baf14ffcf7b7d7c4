import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { ConfigPatch, redactConfig, StoredConfig } from "../../src/AgentConfig/AgentConfig.ts"
import { type Catalogue, defaultConfig, patchConfig, type Seal } from "../../src/AgentConfig/patchConfig.ts"
import { faultsOf } from "../../src/Fault.ts"

const catalogue: Catalogue = {
  voices: new Set(["slt", "awb"]),
  asrModels: ["vendor:transcribe-1", "other"],
  llmModels: ["demo", "big"],
  toolIds: new Set(["tool_1", "tool_2"]),
  knowledgeSourceIds: new Set(["ks_1"]),
  urlFault: (url, rules) =>
    url.includes("private") || !rules.schemes.some((scheme) => url.startsWith(scheme)) ? "must be public" : undefined
}
const seal: Seal = (plain, previous) => (previous === `sealed:${plain}` ? previous : `sealed:${plain}`)
const initial = defaultConfig(catalogue)

/** Patches as a request would: strict decoding, then the rules. Gives the stored config or the first place at fault. */
const send = (stored: StoredConfig, body: unknown): StoredConfig | string => {
  const decoded = Schema.decodeUnknownResult(ConfigPatch)(body, { onExcessProperty: "error", errors: "all" })
  if (Result.isFailure(decoded)) return faultsOf(decoded.failure.issue, "body")[0]?.loc.slice(1).join(".") ?? "?"
  const patched = patchConfig(stored, decoded.success, catalogue, seal)
  return Result.isSuccess(patched) ? patched.success : (patched.failure[0]?.loc.slice(1).join(".") ?? "?")
}

const accept = (body: unknown, stored = initial): StoredConfig => {
  const result = send(stored, body)
  if (typeof result === "string") throw new Error(`refused at ${result}`)
  return result
}

const text = (length: number) => "x".repeat(length)
const hook = (n: number) => ({ url: `https://example.com/${n}` })
const phone = { type: "phone", phone_number: "+14155550123" }

const refused: ReadonlyArray<readonly [at: string, body: unknown]> = [
  ["bogus", { bogus: {} }],
  ["prompt", { prompt: null }],
  ["prompt.bogus", { prompt: { bogus: 1 } }],
  ["prompt.system_prompt", { prompt: { system_prompt: null } }],
  ["prompt.system_prompt", { prompt: { system_prompt: text(500_001) } }],
  ["prompt.system_prompt", { prompt: { system_prompt: "a\0b" } }],
  ["prompt.system_prompt", { prompt: { system_prompt: "\ud800" } }],
  ["prompt.first_message_mode", { prompt: { first_message_mode: "loud" } }],
  ["prompt.first_message", { prompt: { first_message: text(10_001) } }],
  ["prompt.first_message_prompt", { prompt: { first_message_prompt: text(10_001) } }],
  ["prompt.system_prompt", { prompt: { system_prompt: "At {{ system.now }}" } }],
  ["prompt.first_message", { prompt: { first_message: "{{system.session_id}}" } }],
  ["prompt.first_message_prompt", { prompt: { first_message_prompt: "{{system.}}" } }],
  [
    "conversation.transfer_destinations.0.warm_briefing_instructions",
    { conversation: { transfer_destinations: [{ ...phone, warm_briefing_instructions: "{{system.caller}}" }] } }
  ],
  ["voice.voice_id", { voice: { voice_id: "nobody" } }],
  ["voice.voice_id", { voice: { voice_id: text(257) } }],
  ["voice.speaking_language", { voice: { speaking_language: "xx" } }],
  ["voice.speed", { voice: { speed: 0.49 } }],
  ["voice.speed", { voice: { speed: 2.01 } }],
  ["voice.speed", { voice: { speed: "1" } }],
  ["voice.expressive", { voice: { expressive: 1 } }],
  ["asr.model", { asr: { model: "nope" } }],
  ["asr.keyterms", { asr: { keyterms: Array.from({ length: 51 }, () => "a") } }],
  ["conversation.max_duration_seconds", { conversation: { max_duration_seconds: 59 } }],
  ["conversation.max_duration_seconds", { conversation: { max_duration_seconds: 3601 } }],
  ["conversation.max_duration_seconds", { conversation: { max_duration_seconds: 60.5 } }],
  ["conversation.response_wait_ms", { conversation: { response_wait_ms: 299 } }],
  ["conversation.response_wait_ms", { conversation: { response_wait_ms: 2001 } }],
  ["conversation.response_max_wait_ms", { conversation: { response_max_wait_ms: 4001 } }],
  ["conversation.eagerness", { conversation: { eagerness: "high" } }],
  ["conversation.interruption_sensitivity", { conversation: { interruption_sensitivity: "eager" } }],
  [
    "conversation.interruption_ignore_phrases",
    { conversation: { interruption_ignore_phrases: Array.from({ length: 51 }, () => "a") } }
  ],
  ["conversation.hangup_after_seconds", { conversation: { hangup_after_seconds: 9 } }],
  ["conversation.hangup_after_seconds", { conversation: { hangup_after_seconds: 3601 } }],
  ["conversation.timezone", { conversation: { timezone: "Mars/Base" } }],
  ["conversation.timezone", { conversation: { timezone: "+01:00" } }],
  ["conversation.timezone", { conversation: { timezone: null } }],
  ["conversation.outbound.voicemail.action", { conversation: { outbound: { voicemail: { action: "sing" } } } }],
  ["conversation.outbound.voicemail.message", { conversation: { outbound: { voicemail: { message: text(10_001) } } } }],
  [
    "conversation.transfer_destinations.0.phone_number",
    { conversation: { transfer_destinations: [{ type: "phone", phone_number: "123" }] } }
  ],
  ["conversation.transfer_destinations.0.sip_uri", { conversation: { transfer_destinations: [{ type: "sip" }] } }],
  [
    "conversation.transfer_destinations.0.phone_number",
    { conversation: { transfer_destinations: [{ type: "sip", sip_uri: "sip:a@b.c", phone_number: "+14155550123" }] } }
  ],
  [
    "conversation.transfer_destinations.0.label",
    { conversation: { transfer_destinations: [phone, { ...phone, label: "b" }] } }
  ],
  [
    "conversation.transfer_destinations.1.label",
    {
      conversation: {
        transfer_destinations: [
          { ...phone, label: "Sales" },
          { ...phone, label: "sales" }
        ]
      }
    }
  ],
  [
    "conversation.transfer_destinations.0.warm_connect",
    { conversation: { transfer_destinations: [{ ...phone, warm_connect: "x" }] } }
  ],
  [
    "conversation.transfer_destinations.0.announcement_mode",
    { conversation: { transfer_destinations: [{ ...phone, announcement_mode: "off" }] } }
  ],
  [
    "conversation.transfer_destinations.0.on_failure.action",
    { conversation: { transfer_destinations: [{ ...phone, on_failure: { action: "x" } }] } }
  ],
  ["tools.tool_ids.1", { tools: { tool_ids: ["tool_1", "tool_9"] } }],
  ["tools.system_tools.hang_up_call", { tools: { system_tools: { hang_up_call: "yes" } } }],
  ["webhooks.post_call", { webhooks: { post_call: [1, 2, 3, 4, 5, 6].map(hook) } }],
  ["webhooks.post_call.1.url", { webhooks: { post_call: [hook(1), hook(1)] } }],
  ["webhooks.post_call.0.url", { webhooks: { post_call: { url: "ftp://example.com" } } }],
  ["webhooks.post_call.0.url", { webhooks: { post_call: [{ url: "https://private" }] } }],
  ["webhooks.post_call.0.url", { webhooks: { post_call: [{}] } }],
  ["webhooks.post_call.0.secret", { webhooks: { post_call: [{ ...hook(1), secret: text(257) }] } }],
  ["webhooks.post_call", { webhooks: { post_call: "x" } }],
  [
    "webhooks.conversation_init.timeout_seconds",
    { webhooks: { conversation_init: { ...hook(1), timeout_seconds: 9 } } }
  ],
  [
    "webhooks.conversation_init.timeout_seconds",
    { webhooks: { conversation_init: { ...hook(1), timeout_seconds: 0.5 } } }
  ],
  ["knowledge_base.knowledge_source_ids.0", { knowledge_base: { knowledge_source_ids: ["ks_9"] } }],
  [
    "knowledge_base.knowledge_source_ids",
    { knowledge_base: { knowledge_source_ids: Array.from({ length: 101 }, () => "ks_1") } }
  ],
  ["analysis.summary.prompt", { analysis: { summary: { prompt: text(1001) } } }],
  ["analysis.summary.language", { analysis: { summary: { language: "xx" } } }],
  ["analysis.data_fields.0.name", { analysis: { data_fields: [{ name: "Upper" }] } }],
  ["analysis.data_fields.1.name", { analysis: { data_fields: [{ name: "a" }, { name: "a" }] } }],
  ["analysis.data_fields.0.type", { analysis: { data_fields: [{ name: "a", type: "date" }] } }],
  [
    "analysis.data_fields.0.enum_options",
    { analysis: { data_fields: [{ name: "a", type: "enum", enum_options: ["one"] }] } }
  ],
  ["analysis.data_fields.0.enum_options", { analysis: { data_fields: [{ name: "a", enum_options: ["one", "two"] }] } }],
  ["analysis.data_fields", { analysis: { data_fields: Array.from({ length: 21 }, (_, n) => ({ name: `f${n}` })) } }],
  ["analysis.criteria", { analysis: { criteria: Array.from({ length: 11 }, (_, n) => ({ name: `f${n}` })) } }],
  ["analysis.criteria.0.description", { analysis: { criteria: [{ name: "a", description: text(501) }] } }],
  ["guardrails.focus", { guardrails: { focus: null } }],
  ["llm.model", { llm: { model: "nope" } }],
  ["llm.model", { llm: { model: "demo", custom: { base_url: "https://a.example", model: "m", api_key: "k" } } }],
  ["llm.custom.api_key", { llm: { custom: { base_url: "https://a.example", model: "m" } } }],
  ["llm.custom.base_url", { llm: { custom: { base_url: "http://a.example", model: "m", api_key: "k" } } }],
  ["llm.custom.base_url", { llm: { custom: { base_url: `https://${text(2000)}`, model: "m", api_key: "k" } } }],
  ["llm.custom.api_key", { llm: { custom: { base_url: "https://a.example", model: "m", api_key: text(4097) } } }],
  ["llm.custom.model", { llm: { custom: { base_url: "https://a.example", model: text(257), api_key: "k" } } }]
]

describe("patchConfig", () => {
  it.each(refused)("names %s when it refuses", (at, body) => {
    assert.strictEqual(send(initial, body), at)
  })

  it("has the defaults of a returned config", () => {
    const { asr, conversation, guardrails, knowledge_base, llm, tools, voice, webhooks } = initial
    assert.deepStrictEqual(voice, { voice_id: "", speaking_language: "en", expressive: false, speed: 1 })
    assert.deepStrictEqual(asr, {
      model: "vendor:transcribe-1",
      multilingual: false,
      strict_language: false,
      keyterms: []
    })
    assert.deepStrictEqual(conversation, {
      max_duration_seconds: 1800,
      response_wait_ms: 550,
      eagerness: "balanced",
      response_max_wait_ms: null,
      interruptible: true,
      interruption_sensitivity: "balanced",
      interruption_ignore_phrases: [],
      speculative_response: true,
      reengage_enabled: false,
      hangup_after_seconds: 60,
      hangup_farewell_enabled: false,
      record_audio: true,
      timezone: "",
      transfer_destinations: [],
      outbound: { amd_enabled: true, voicemail: { action: "hangup", message: "" } }
    })
    assert.deepStrictEqual(tools, { enabled: true, tool_ids: [], system_tools: { hang_up_call: false } })
    assert.deepStrictEqual(webhooks, { conversation_init: null, post_call: [] })
    assert.deepStrictEqual(knowledge_base, { enabled: false, knowledge_source_ids: [] })
    assert.deepStrictEqual(guardrails, { focus: false, manipulation: false })
    assert.deepStrictEqual(llm, { model: "demo", custom: null })
    assert.strictEqual(initial.prompt.system_prompt, "")
    assert.strictEqual(initial.prompt.first_message_mode, "prompt")
    assert.deepStrictEqual(initial.analysis, {
      summary: { enabled: true, prompt: "", language: "en" },
      data_fields: [],
      criteria: []
    })
  })

  it("replaces a sent section whole and keeps an unsent one", () => {
    const first = accept({ voice: { speed: 2, expressive: true }, asr: { model: "other", keyterms: ["a"] } })
    const second = accept({ voice: { speed: 1.5 } }, first)
    assert.deepStrictEqual(second.voice, { voice_id: "", speaking_language: "en", expressive: false, speed: 1.5 })
    assert.deepStrictEqual(second.asr, first.asr)
    assert.strictEqual(accept({ asr: {} }, first).asr.model, "vendor:transcribe-1")
  })

  it("keeps a webhook's secret by its url only", () => {
    const one = accept({
      webhooks: { post_call: { ...hook(1), secret: "s" }, conversation_init: { ...hook(2), secret: "t" } }
    })
    assert.deepStrictEqual(one.webhooks.post_call, [{ ...hook(1), secret: "sealed:s" }])
    for (const secret of [{}, { secret: null }]) {
      const kept = accept(
        { webhooks: { post_call: [hook(3), { ...hook(1), ...secret }], conversation_init: { ...hook(2), ...secret } } },
        one
      )
      assert.deepStrictEqual(kept.webhooks.post_call, [
        { ...hook(3), secret: null },
        { ...hook(1), secret: "sealed:s" }
      ])
      assert.strictEqual(kept.webhooks.conversation_init?.secret, "sealed:t")
    }
    assert.strictEqual(
      accept({ webhooks: { conversation_init: hook(1) } }, one).webhooks.conversation_init?.secret,
      null
    )
    assert.strictEqual(
      accept({ webhooks: { post_call: [{ ...hook(1), secret: "" }] } }, one).webhooks.post_call[0]?.secret,
      null
    )
    const moved = accept(
      {
        webhooks: {
          post_call: [{ url: "https://evil.example/1" }],
          conversation_init: { url: "https://evil.example/2" }
        }
      },
      one
    ).webhooks
    assert.deepStrictEqual([moved.post_call[0]?.secret, moved.conversation_init?.secret], [null, null])
    for (const post_call of [null, []]) {
      assert.deepStrictEqual(accept({ webhooks: { post_call } }, one).webhooks, {
        conversation_init: null,
        post_call: []
      })
    }
  })

  it("never lets a model key follow to another host", () => {
    const custom = { base_url: "https://a.example/v1/chat/completions", model: "m" }
    const one = accept({ llm: { custom: { ...custom, api_key: "k" } } })
    assert.deepStrictEqual(one.llm, {
      model: null,
      custom: { base_url: "https://a.example/v1", model: "m", api_key: "sealed:k" }
    })
    assert.strictEqual(
      accept({ llm: { custom: { ...custom, model: "n", api_key: null } } }, one).llm.custom?.api_key,
      "sealed:k"
    )
    assert.strictEqual(
      send(one, { llm: { custom: { ...custom, base_url: "https://b.example/v1" } } }),
      "llm.custom.api_key"
    )
    assert.deepStrictEqual(accept({ llm: { custom: null } }, one).llm, { model: "demo", custom: null })
  })

  it("turns knowledge on when sources are named without a word about it", () => {
    assert.strictEqual(accept({ knowledge_base: { knowledge_source_ids: ["ks_1"] } }).knowledge_base.enabled, true)
    assert.strictEqual(accept({ knowledge_base: {} }).knowledge_base.enabled, false)
    const off = accept({ knowledge_base: { enabled: false, knowledge_source_ids: ["ks_1"] } })
    assert.strictEqual(off.knowledge_base.enabled, false)
  })

  it("takes back any returned config unchanged, also when the platform has lost what it names", () => {
    const poorer: Catalogue = {
      ...catalogue,
      voices: new Set(),
      toolIds: new Set(),
      knowledgeSourceIds: new Set(),
      asrModels: ["new"],
      llmModels: ["new"],
      urlFault: () => "nothing is public any more"
    }
    const random = generator(7)
    for (let round = 0; round < 500; round++) {
      const stored = accept(randomPatch(random))
      const returned: unknown = JSON.parse(
        JSON.stringify({
          ...redactConfig(stored),
          agent_id: "a",
          config_hash: "sha256:0",
          updated_at: "2026-01-01T00:00:00Z"
        })
      )
      const decoded = Schema.decodeUnknownSync(ConfigPatch)(returned, { onExcessProperty: "error" })
      for (const platform of [catalogue, poorer]) {
        const again = patchConfig(stored, decoded, platform, seal)
        assert.deepStrictEqual(Result.isSuccess(again) ? again.success : again.failure, stored)
      }
      assert.deepStrictEqual(Schema.decodeUnknownSync(StoredConfig)(JSON.parse(JSON.stringify(stored))), stored)
    }
  })
})

type Random = () => number

/** Mulberry32: the same rounds on every machine. */
const generator = (seed: number): Random => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

const randomPatch = (random: Random): Record<string, unknown> => {
  const one = <A>(values: ReadonlyArray<A>): A => values[Math.floor(random() * values.length)] as A
  const flag = () => random() < 0.5
  const whole = (from: number, to: number) => from + Math.floor(random() * (to - from + 1))
  const words = () => one(["", "Grüße 👋", "a".repeat(whole(1, 60)), "{{system.today}}"])
  /** Each field is there or left out. */
  const some = (fields: Record<string, unknown>) => Object.fromEntries(Object.entries(fields).filter(() => flag()))
  const custom = { base_url: one(["https://a.example/v1/", "https://b.example"]), model: "m", api_key: "k" }
  return some({
    prompt: some({
      system_prompt: words(),
      first_message_mode: one(["off", "fixed", "prompt"]),
      first_message: words(),
      first_message_prompt: words()
    }),
    voice: some({
      voice_id: one(["", "slt", "awb"]),
      speaking_language: one(["en", "af"]),
      expressive: flag(),
      speed: whole(5, 20) / 10
    }),
    asr: some({
      model: one(["other", "vendor:transcribe-1"]),
      multilingual: flag(),
      strict_language: flag(),
      keyterms: [words() || "x"]
    }),
    conversation: some({
      max_duration_seconds: whole(60, 3600),
      response_wait_ms: whole(300, 2000),
      eagerness: one(["relaxed", "balanced", "eager"]),
      response_max_wait_ms: one([null, 0, 4000]),
      interruptible: flag(),
      interruption_sensitivity: one(["low", "balanced", "high"]),
      interruption_ignore_phrases: one([[], ["uh huh"]]),
      speculative_response: flag(),
      reengage_enabled: flag(),
      hangup_after_seconds: whole(10, 3600),
      hangup_farewell_enabled: flag(),
      record_audio: flag(),
      timezone: one(["", "Europe/Berlin", "UTC", "America/Argentina/Buenos_Aires"]),
      transfer_destinations: one([
        [],
        [phone],
        [
          {
            ...phone,
            label: "A",
            mode: "warm",
            warm_connect: "direct",
            on_failure: { action: "end_call", message: words() }
          },
          { type: "sip", sip_uri: "sip:desk@example.com", label: "B", description: words() }
        ]
      ]),
      outbound: some({
        amd_enabled: flag(),
        voicemail: some({ action: one(["hangup", "leave_message"]), message: words() })
      })
    }),
    tools: some({
      enabled: flag(),
      tool_ids: one([[], ["tool_1", "tool_2"]]),
      system_tools: some({ hang_up_call: flag() })
    }),
    webhooks: some({
      conversation_init: one([null, { ...hook(1), timeout_seconds: whole(1, 8) }, { ...hook(1), secret: "s" }]),
      post_call: one<unknown>([null, [], hook(2), [{ ...hook(2), secret: "t" }, hook(3)]])
    }),
    knowledge_base: some({ enabled: flag(), knowledge_source_ids: one([[], ["ks_1"]]) }),
    analysis: some({
      summary: some({ enabled: flag(), prompt: words(), language: one(["en", "ja"]) }),
      data_fields: one([[], [{ name: "a" }, { name: "b", type: "enum", enum_options: ["x", "y"] }]]),
      criteria: one([[], [{ name: "kind", description: words() }]])
    }),
    guardrails: some({ focus: flag(), manipulation: flag() }),
    llm: one<unknown>([{}, { model: "big" }, { model: null }, { custom }, { model: null, custom }, { custom: null }])
  })
}
