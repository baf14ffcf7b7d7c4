// Ask any OpenAI-compatible model what the agent would ask it. One setting makes the service use it:
//   PARLEY_LLM_BASE_URL=http://localhost:11434/v1 PARLEY_LLM_MODEL=llama3.2 npm start
// and the same two show here that it answers:
//   PARLEY_LLM_BASE_URL=... PARLEY_LLM_MODEL=... node examples/04-use-a-real-llm.ts "Hello?"
import { LanguageModels } from "@parley/llm/LanguageModels"
import { Effect, Redacted, Stream } from "effect"

const { PARLEY_LLM_API_KEY: key, PARLEY_LLM_BASE_URL: baseUrl, PARLEY_LLM_MODEL: model = "default" } = process.env
if (baseUrl === undefined)
  throw new Error("set PARLEY_LLM_BASE_URL, and PARLEY_LLM_MODEL and PARLEY_LLM_API_KEY where needed")

const models = LanguageModels.make({
  providers: ["openai"],
  openai: { baseUrl, model, apiKey: key === undefined ? undefined : Redacted.make(key) }
})
const [content = "Hello, who are you?"] = process.argv.slice(2)
const words = models.chat({ kind: "default", model: "" }).stream({
  messages: [
    { role: "system", content: "You are a receptionist on the telephone. Answer in one sentence." },
    { role: "user", content }
  ],
  tools: [],
  extra: {}
})
await Effect.runPromise(
  Stream.runForEach(words, (delta) => Effect.sync(() => delta._tag === "Text" && process.stdout.write(delta.text)))
)
console.log()
