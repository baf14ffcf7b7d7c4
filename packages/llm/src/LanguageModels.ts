// The language models a server has: an ordered list for everyone, and endpoints that agents bring along.
// An agent's own endpoint has no stand-in: when it fails, the call hears so.
import { Context, Layer } from "effect"
import type { ChatModel } from "./ChatModel.ts"
import * as DemoHost from "./demo/DemoHost.ts"
import * as Failover from "./Failover.ts"
import type { LlmChoice } from "./LlmChoice.ts"
import * as OpenAiChat from "./openai/OpenAiChat.ts"

/** `openai`: any OpenAI-compatible endpoint; `demo`: the built-in host. */
export type LlmProvider = "openai" | "demo"

/** Which models a server has. */
export interface LlmSettings {
  /** In order of preference, at least one; `openai` needs `openai` settings. */
  readonly providers: readonly [LlmProvider, ...ReadonlyArray<LlmProvider>]
  readonly openai?: OpenAiChat.OpenAiChatSettings | undefined
  /** How an agent's own endpoint is reached. */
  readonly customFetch?: OpenAiChat.ChatFetch | undefined
}

/** The language models of a server: `chat` gives the one for a call, `health` the state of the server's own list. */
export class LanguageModels extends Context.Service<
  LanguageModels,
  {
    readonly chat: (choice: LlmChoice) => ChatModel
    readonly health: () => ReadonlyArray<Failover.ChatHealth>
  }
>()("@parley/llm/LanguageModels") {
  /** Throws a `RangeError` when `openai` is listed without settings. */
  static readonly make = (settings: LlmSettings): LanguageModels["Service"] => {
    const [first, ...rest] = settings.providers
    const own = Failover.make([modelOf(first, settings), ...rest.map((provider) => modelOf(provider, settings))])
    return {
      chat: (choice) =>
        choice.kind === "custom"
          ? OpenAiChat.make({ ...choice, provider: "custom", fetch: settings.customFetch })
          : own,
      health: own.health
    }
  }

  static readonly layer = (settings: LlmSettings): Layer.Layer<LanguageModels> =>
    Layer.sync(LanguageModels, () => LanguageModels.make(settings))
}

const modelOf = (provider: LlmProvider, { openai }: LlmSettings): ChatModel => {
  if (provider === "demo") return DemoHost.make()
  if (openai === undefined) throw new RangeError("the openai provider needs a base URL and a model")
  return OpenAiChat.make(openai)
}
