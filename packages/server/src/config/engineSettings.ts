// Which engines serve speech, recognition and language, in order, and what each needs: nothing, a folder, or an address.
import type { SynthesizerName, TranscriberName } from "@parley/speech/Providers"
import { Config, Effect, type Redacted } from "effect"
import { entriesOf, secret, text, url, wrong } from "./fields.ts"
import { fallbackOf } from "./settingsTable.ts"

/** One external engine by address. */
export interface Endpoint {
  readonly baseUrl: string
  readonly model: string
  readonly apiKey: Redacted.Redacted<string> | undefined
}

/** The providers of one part (speech, recognition or language) and what they need. */
export interface EngineSettings<Name extends string> {
  /** In order of preference. */
  readonly providers: readonly [Name, ...ReadonlyArray<Name>]
  /** For the one provider that is reached by an address. */
  readonly endpoint: Endpoint | undefined
  /** For the provider `sherpa`. */
  readonly modelFolder: string | undefined
}

export type LanguageModelName = "demo" | "openai"

/** Providers by what they need, with the model and the address taken when none is set. */
interface Known<Name extends string> {
  readonly embedded: Name
  readonly folder?: Name
  /** Installed on demand. */
  readonly extra?: Name
  readonly remote: Readonly<Partial<Record<Name, { readonly model: string; readonly baseUrl?: string }>>>
}

const synthesizers: Known<SynthesizerName> = {
  embedded: "flite",
  folder: "sherpa",
  extra: "espeak",
  remote: {
    openai: { model: "tts-1" },
    elevenlabs: { model: "eleven_flash_v2_5", baseUrl: "https://api.elevenlabs.io" }
  }
}
const transcribers: Known<TranscriberName> = {
  embedded: "pocketsphinx",
  folder: "sherpa",
  remote: {
    openai: { model: "whisper-1" },
    elevenlabs: { model: "scribe_v2_realtime", baseUrl: "https://api.elevenlabs.io" },
    deepgram: { model: "nova-3", baseUrl: "https://api.deepgram.com" }
  }
}
const languageModels: Known<LanguageModelName> = { embedded: "demo", remote: { openai: { model: "default" } } }

const web = ["http:", "https:"]

/** `{prefix}`: the list; `{prefix}_BASE_URL`, `_MODEL`, `_API_KEY`, `_MODEL_FOLDER`: what they need. */
const engine = <Name extends string>(prefix: string, known: Known<Name>): Config.Config<EngineSettings<Name>> =>
  Config.mapEffect(
    Config.all({
      names: text(prefix),
      address: url(`${prefix}_BASE_URL`, web),
      modelFolder: known.folder === undefined ? Config.succeed(undefined) : text(`${prefix}_MODEL_FOLDER`),
      model: text(`${prefix}_MODEL`),
      apiKey: secret(`${prefix}_API_KEY`)
    }),
    Effect.fnUntraced(function* ({ address, apiKey, model, modelFolder, names }) {
      const unasked = address !== undefined ? "openai" : modelFolder !== undefined ? known.folder : known.embedded
      const providers = yield* providersOf(prefix, known, names ?? unasked ?? known.embedded)
      const remote = yield* remoteOf(prefix, known, providers)
      const baseUrl = address ?? (remote === undefined ? undefined : known.remote[remote]?.baseUrl)
      if (remote !== undefined && baseUrl === undefined) {
        return yield* wrong(`${prefix} names ${remote}, which needs ${prefix}_BASE_URL`)
      }
      if (known.folder !== undefined && providers.includes(known.folder) && modelFolder === undefined) {
        return yield* wrong(`${prefix} names ${known.folder}, which needs ${prefix}_MODEL_FOLDER`)
      }
      const named = model ?? (remote && known.remote[remote]?.model) ?? fallbackOf(`${prefix}_MODEL`)
      return { providers, endpoint: baseUrl === undefined ? undefined : { baseUrl, model: named, apiKey }, modelFolder }
    })
  )

const providersOf = Effect.fnUntraced(function* <Name extends string>(
  prefix: string,
  known: Known<Name>,
  names: string
) {
  const all = [known.embedded, known.folder, known.extra, ...remotesOf(known)].filter((one) => one !== undefined)
  const found = entriesOf(names).map((name) => all.find((one) => one === name))
  const [first, ...rest] = found.filter((one) => one !== undefined)
  if (rest.length + 1 < found.length) return yield* wrong(`${prefix} must be a list of ${all.join(", ")}`)
  if (first !== undefined) return [first, ...rest] as const
  return yield* wrong(
    found.length > 0 ? `${prefix} must be a list of ${all.join(", ")}` : `${prefix} must name at least one provider`
  )
})

/** The one provider that is reached by an address. */
const remoteOf = Effect.fnUntraced(function* <Name extends string>(
  prefix: string,
  known: Known<Name>,
  providers: ReadonlyArray<Name>
) {
  const remotes = remotesOf(known)
  const [remote, another] = remotes.filter((one) => providers.includes(one))
  return another === undefined ? remote : yield* wrong(`${prefix} may name only one of ${remotes.join(", ")}`)
})

const remotesOf = <Name extends string>({ remote }: Known<Name>): ReadonlyArray<Name> =>
  Object.keys(remote) as Array<Name>

export const speaking = Config.mapEffect(
  Config.all({
    engine: engine("PARLEY_TTS", synthesizers),
    voices: Config.map(text("PARLEY_TTS_VOICES"), (all = "") => entriesOf(all))
  }),
  ({ engine: settings, voices }) =>
    settings.providers.includes("elevenlabs") && voices.length === 0
      ? wrong("PARLEY_TTS names elevenlabs, which needs PARLEY_TTS_VOICES")
      : Effect.succeed({ ...settings, voices })
)

export const recognition = engine("PARLEY_ASR", transcribers)

export const language = engine("PARLEY_LLM", languageModels)

/** Undefined: documents are searched by words alone. */
export const embeddings: Config.Config<Endpoint | undefined> = Config.map(
  Config.all({
    baseUrl: url("PARLEY_EMBEDDINGS_BASE_URL", web),
    model: text("PARLEY_EMBEDDINGS_MODEL"),
    apiKey: secret("PARLEY_EMBEDDINGS_API_KEY")
  }),
  ({ apiKey, baseUrl, model }) =>
    baseUrl === undefined ? undefined : { baseUrl, model: model ?? fallbackOf("PARLEY_EMBEDDINGS_MODEL"), apiKey }
)
