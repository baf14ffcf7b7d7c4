// What serves at this moment, told by whoever wires the engines.
import type { Provider } from "@parley/contract/Health"
import { Context, type Effect } from "effect"

/** The state of the engines' providers, as /health shows it. */
export class ServingHealth extends Context.Service<
  ServingHealth,
  {
    /** By part (`tts`, `asr`, `vad`, `llm`), providers in order of preference. Must answer at once. */
    readonly snapshot: Effect.Effect<Readonly<Record<string, ReadonlyArray<Provider>>>>
  }
>()("@parley/app/ServingHealth") {}
