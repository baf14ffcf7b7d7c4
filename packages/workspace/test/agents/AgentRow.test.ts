import { defaultConfig } from "@parley/contract/AgentConfig/patchConfig"
import { describe, expect, it } from "@effect/vitest"
import { decodeConfig } from "../../src/agents/AgentRow.ts"

const made = defaultConfig({
  voices: new Set(),
  asrModels: ["recognise"],
  llmModels: ["answer"],
  toolIds: new Set(),
  knowledgeSourceIds: new Set(),
  urlFault: () => undefined
})
const stored = (): Record<string, Record<string, unknown>> => JSON.parse(JSON.stringify(made))

describe("decodeConfig", () => {
  it("takes a complete configuration as it is", () => {
    expect(decodeConfig(stored())).toEqual(made)
  })

  it("gives sections and fields that are missing their defaults, and keeps the rest", () => {
    const { analysis: _, ...older } = stored()
    const { first_message_mode: __, ...prompt } = older["prompt"] ?? {}
    expect(decodeConfig({ ...older, prompt: { ...prompt, system_prompt: "Be brief." } })).toEqual({
      ...made,
      prompt: { ...made.prompt, system_prompt: "Be brief." }
    })
  })

  it("leaves out what the schema no longer has, at any depth", () => {
    const config = stored()
    expect(decodeConfig({ ...config, gone: 1, prompt: { ...config["prompt"], gone: 1 } })).toEqual(made)
  })

  it("reads values that today's bounds would refuse", () => {
    const config = stored()
    const prompt = { ...config["prompt"], system_prompt: "x".repeat(2_000_000) }
    expect(decodeConfig({ ...config, prompt }).prompt.system_prompt).toHaveLength(2_000_000)
  })
})
