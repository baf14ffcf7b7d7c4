import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Stream } from "effect"
import { LanguageModels } from "../src/LanguageModels.ts"
import { make as fakeServer } from "../src/testing/FakeChatServer.ts"

describe("LanguageModels", () => {
  it.live("reaches an agent's own endpoint the way it is told, and the server's own by itself", () =>
    Effect.gen(function* () {
      const { baseUrl } = yield* fakeServer(() => ({ kind: "say", text: "Hello." }))
      const asked: Array<string> = []
      const models = LanguageModels.make({
        providers: ["openai"],
        openai: { baseUrl, model: "m" },
        customFetch: (url, init) => {
          asked.push(url)
          return url.startsWith("https://forbidden") ? Promise.reject(new Error("no")) : fetch(url, init)
        }
      })
      const say = (choice: Parameters<typeof models.chat>[0]) =>
        Stream.runCollect(
          models.chat(choice).stream({ messages: [{ role: "user", content: "Hi" }], tools: [], extra: {} })
        )
      const custom = { kind: "custom", model: "m", apiKey: Redacted.make("k") } as const
      assert.isNotEmpty([...(yield* say({ kind: "default", model: "" }))])
      assert.deepStrictEqual(asked, [])
      assert.isNotEmpty([...(yield* say({ ...custom, baseUrl }))])
      const refused = yield* Effect.flip(say({ ...custom, baseUrl: "https://forbidden.example/v1" }))
      assert.strictEqual(refused.reason, "Unavailable")
      assert.deepStrictEqual(asked, [`${baseUrl}/chat/completions`, "https://forbidden.example/v1/chat/completions"])
    })
  )
})
