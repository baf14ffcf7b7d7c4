// What this installation offers to every workspace: voices and models by name, and where it may be told to call.
// Filled by whoever wires the engines.
import type { Embedder } from "@parley/llm/Embedder"
import { Context } from "effect"

/** What the installation offers to every workspace. */
export class Platform extends Context.Service<
  Platform,
  {
    readonly voices: ReadonlySet<string>
    /** The first is the default. */
    readonly asrModels: readonly [string, ...ReadonlyArray<string>]
    readonly llmModels: readonly [string, ...ReadonlyArray<string>]
    /** Names or address blocks that tools, webhooks and model endpoints may name though private. */
    readonly allowedPrivate: ReadonlyArray<string>
    /** Whether the serving synthesizer speaks like a reference recording, beyond bending a voice towards it. */
    readonly cloning: boolean
    /**
     * What a new workspace may spend, in nano-units; `unlimited`: nothing is refused for money. Undefined: five units, and
     * the first workspace, which is the operator's own, is unlimited.
     */
    readonly trialBalance: bigint | "unlimited" | undefined
    /** The word for the service in its headers; left out: the neutral one. */
    readonly vendor?: string | undefined
    /** Left out: documents are searched by words alone. */
    readonly embedder?: Embedder | undefined
  }
>()("@parley/workspace/Platform") {}
