// Every setting of the service, read once from the environment; `settingsTable.ts` says what they mean. A wrong
// setting stops the start with one line that names it; values are not repeated there, since one may be a key.
import type { MediaSettings, SipSettings } from "@parley/app/AppSettings"
import { Redacted, Result } from "effect"
import { isIP } from "node:net"
import { defaultVendor } from "@parley/contract/Vendor"
import type { SynthesizerName, TranscriberName } from "@parley/speech/Providers"
import { nanoOf } from "@parley/workspace/billing/Money"
import { parseBlock } from "@parley/workspace/outbound/IpAddress"
import { fallbackOf } from "./settingsTable.ts"

/** One external engine by address. */
export interface Endpoint {
  readonly baseUrl: string
  readonly model: string
  readonly apiKey: Redacted.Redacted<string> | undefined
}

export interface EngineSettings<Name extends string> {
  /** In order of preference. */
  readonly providers: readonly [Name, ...ReadonlyArray<Name>]
  /** For the one provider that is reached by an address. */
  readonly endpoint: Endpoint | undefined
  /** For the provider `sherpa`. */
  readonly modelFolder: string | undefined
}

/** Providers by what they need: nothing, a folder, or an address; with the model and address taken when none is set. */
interface Known<Name extends string> {
  readonly embedded: Name
  readonly folder?: Name
  /** Installed on demand. */
  readonly extra?: Name
  readonly remote: Readonly<Partial<Record<Name, { readonly model: string; readonly baseUrl?: string }>>>
}

/** The door of the telephone; shut without any port. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly publicUrl: string | undefined
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly databaseUrl: Redacted.Redacted<string> | undefined
  readonly secretKey: Redacted.Redacted<string> | undefined
  readonly tts: EngineSettings<SynthesizerName> & { readonly voices: ReadonlyArray<string> }
  readonly asr: EngineSettings<TranscriberName>
  readonly llm: EngineSettings<"demo" | "openai"> & { readonly extraBody: Readonly<Record<string, unknown>> }
  /** Documents are searched by meaning, too. */
  readonly embeddings: Endpoint | undefined
  /** Options of the media door. */
  readonly media: MediaSettings
  readonly sip: SipSettings
  /** Countries that bought numbers may call, ISO 3166-1 alpha-2. */
  readonly callCountries: ReadonlyArray<string>
  /** How long recordings are kept, in days; 0 for ever. */
  readonly recordingsDays: number
  /** Live calls at the same time. */
  readonly maxCalls: number
  /** What a new workspace may spend, in nano-units. */
  readonly trialBalance: bigint | "unlimited"
  readonly vendor: string
  readonly vendorAliases: ReadonlyArray<string>
  readonly allowedPrivate: ReadonlyArray<string>
  readonly logLevel: "debug" | "info" | "warn" | "error"
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
const minds: Known<"demo" | "openai"> = { embedded: "demo", remote: { openai: { model: "default" } } }

class Wrong extends Error {}

/** The whole configuration, or one line that says what is wrong. */
export const readConfig = (env: Readonly<Record<string, string | undefined>>): Result.Result<Config, string> => {
  const text = (name: string): string | undefined => env[name]?.trim() || undefined
  const secret = (name: string, minimum = 1): Redacted.Redacted<string> | undefined => {
    const value = text(name)
    if (value === undefined) return undefined
    if (value.length < minimum) throw new Wrong(`${name} must have at least ${minimum} characters`)
    if (/\s/.test(value)) throw new Wrong(`${name} must not contain white space`)
    return Redacted.make(value)
  }
  const list = (name: string, fallback: string): ReadonlyArray<string> =>
    (text(name) ?? fallback)
      .split(",")
      .map((entry) => entry.trim())
      .filter((entry) => entry !== "")
  const url = (name: string, schemes: ReadonlyArray<string>): string | undefined => {
    const value = text(name)
    if (value === undefined) return undefined
    if (!URL.canParse(value) || !schemes.includes(new URL(value).protocol)) {
      throw new Wrong(
        `${name} must be an address that starts with ${schemes.map((scheme) => `${scheme}//`).join(" or ")}`
      )
    }
    return value.replace(/\/+$/, "")
  }
  const engine = <Name extends string>(prefix: string, known: Known<Name>): EngineSettings<Name> => {
    const given = url(`${prefix}_BASE_URL`, ["http:", "https:"])
    const modelFolder = known.folder === undefined ? undefined : text(`${prefix}_MODEL_FOLDER`)
    const remotes = Object.keys(known.remote) as Array<Name>
    const names = [known.embedded, known.folder, known.extra, ...remotes].filter((one) => one !== undefined)
    const unasked = given !== undefined ? "openai" : modelFolder !== undefined ? known.folder : known.embedded
    const named = list(prefix, unasked ?? known.embedded).map((name) => {
      const found = names.find((one) => one === name)
      if (found === undefined) throw new Wrong(`${prefix} must be a list of ${names.join(", ")}`)
      return found
    })
    const [first, ...rest] = named
    if (first === undefined) throw new Wrong(`${prefix} must name at least one provider`)
    const [remote, another] = remotes.filter((one) => named.includes(one))
    if (another !== undefined) throw new Wrong(`${prefix} may name only one of ${remotes.join(", ")}`)
    const baseUrl = given ?? (remote === undefined ? undefined : known.remote[remote]?.baseUrl)
    if (remote !== undefined && baseUrl === undefined) {
      throw new Wrong(`${prefix} names ${remote}, which needs ${prefix}_BASE_URL`)
    }
    if (known.folder !== undefined && named.includes(known.folder) && modelFolder === undefined) {
      throw new Wrong(`${prefix} names ${known.folder}, which needs ${prefix}_MODEL_FOLDER`)
    }
    const model = text(`${prefix}_MODEL`) ?? (remote && known.remote[remote]?.model) ?? fallbackOf(`${prefix}_MODEL`)
    const endpoint = baseUrl === undefined ? undefined : { baseUrl, model, apiKey: secret(`${prefix}_API_KEY`) }
    return { providers: [first, ...rest], endpoint, modelFolder }
  }
  const speaking = (): Config["tts"] => {
    const settings = { ...engine("PARLEY_TTS", synthesizers), voices: list("PARLEY_TTS_VOICES", "") }
    if (settings.providers.includes("elevenlabs") && settings.voices.length === 0) {
      throw new Wrong("PARLEY_TTS names elevenlabs, which needs PARLEY_TTS_VOICES")
    }
    return settings
  }
  const embeddings = (): Endpoint | undefined => {
    const baseUrl = url("PARLEY_EMBEDDINGS_BASE_URL", ["http:", "https:"])
    const model = text("PARLEY_EMBEDDINGS_MODEL") ?? fallbackOf("PARLEY_EMBEDDINGS_MODEL")
    return baseUrl === undefined ? undefined : { baseUrl, model, apiKey: secret("PARLEY_EMBEDDINGS_API_KEY") }
  }
  const sip = (): SipSettings => {
    const [certificateFile, keyFile] = [text("PARLEY_SIP_TLS_CERT"), text("PARLEY_SIP_TLS_KEY")]
    const secure = text("PARLEY_SIP_TLS_PORT") !== undefined
    if (secure && (certificateFile === undefined || keyFile === undefined)) {
      throw new Wrong("PARLEY_SIP_TLS_PORT needs PARLEY_SIP_TLS_CERT and PARLEY_SIP_TLS_KEY")
    }
    const given = text("PARLEY_PUBLIC_ADDRESS")
    const range = text("PARLEY_RTP_PORTS")
    const open = (text("PARLEY_SIP_PORT") ?? fallbackOf("PARLEY_SIP_PORT")) !== "off"
    return {
      port: open ? whole("PARLEY_SIP_PORT", 0, 65_535) : undefined,
      asked: text("PARLEY_SIP_PORT") !== undefined,
      tls:
        secure && certificateFile !== undefined && keyFile !== undefined
          ? { port: whole("PARLEY_SIP_TLS_PORT", 0, 65_535), certificateFile, keyFile }
          : undefined,
      publicAddress: given === undefined ? undefined : address("PARLEY_PUBLIC_ADDRESS", given),
      rtpPorts: range === undefined ? undefined : ports("PARLEY_RTP_PORTS", range)
    }
  }
  const whole = (name: string, minimum: number, maximum: number): number => {
    const value = Number(text(name) ?? fallbackOf(name))
    if (Number.isInteger(value) && value >= minimum && value <= maximum) return value
    throw new Wrong(`${name} must be a whole number from ${minimum} to ${maximum}`)
  }

  try {
    const vendor = text("PARLEY_VENDOR") ?? defaultVendor
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(vendor))
      throw new Wrong("PARLEY_VENDOR must be a lower-case word of letters, digits and -")
    const logLevel = text("PARLEY_LOG_LEVEL") ?? "info"
    if (logLevel !== "debug" && logLevel !== "info" && logLevel !== "warn" && logLevel !== "error") {
      throw new Wrong("PARLEY_LOG_LEVEL must be debug, info, warn or error")
    }
    url("OTEL_EXPORTER_OTLP_ENDPOINT", ["http:", "https:"])
    const databaseUrl = url("DATABASE_URL", ["postgres:", "postgresql:"])
    return Result.succeed({
      host: text("HOST") ?? "127.0.0.1",
      port: whole("PORT", 0, 65_535),
      data: text("PARLEY_DATA") ?? "./data",
      publicUrl: url("PARLEY_PUBLIC_URL", ["http:", "https:"]),
      apiKey: secret("PARLEY_API_KEY"),
      databaseUrl: databaseUrl === undefined ? undefined : Redacted.make(databaseUrl),
      secretKey: secret("PARLEY_SECRET_KEY", 16),
      tts: speaking(),
      asr: engine("PARLEY_ASR", transcribers),
      llm: {
        ...engine("PARLEY_LLM", minds),
        extraBody: jsonObject("PARLEY_LLM_EXTRA_BODY", text("PARLEY_LLM_EXTRA_BODY"))
      },
      embeddings: embeddings(),
      media: {
        ...(text("PARLEY_MEDIA_ADDRESS") === undefined
          ? {}
          : { advertisedAddress: address("PARLEY_MEDIA_ADDRESS", text("PARLEY_MEDIA_ADDRESS")) }),
        ...(text("PARLEY_MEDIA_PORTS") === undefined
          ? {}
          : { portRange: ports("PARLEY_MEDIA_PORTS", text("PARLEY_MEDIA_PORTS")) })
      },
      sip: sip(),
      callCountries: list("PARLEY_CALL_COUNTRIES", fallbackOf("PARLEY_CALL_COUNTRIES")).map(country),
      recordingsDays: whole("PARLEY_RECORDINGS_DAYS", 0, 36_500),
      maxCalls: whole("PARLEY_MAX_CALLS", 1, 10_000),
      trialBalance: trialBalance(text("PARLEY_TRIAL_BALANCE")),
      vendor,
      vendorAliases: list("PARLEY_VENDOR_ALIASES", "fish-audio"),
      allowedPrivate: list("PARLEY_ALLOW_PRIVATE_NETWORKS", "").map(hostOrBlock),
      logLevel
    })
  } catch (error) {
    if (error instanceof Wrong) return Result.fail(error.message)
    throw error
  }
}

const hostOrBlock = (entry: string): string => {
  if (parseBlock(entry) !== undefined || /^[a-z0-9._-]+$/i.test(entry)) return entry
  throw new Wrong(
    "PARLEY_ALLOW_PRIVATE_NETWORKS must be a list of host names and blocks such as 10.0.0.0/8 or fd00::/8"
  )
}

const trialBalance = (value = fallbackOf("PARLEY_TRIAL_BALANCE")): bigint | "unlimited" => {
  if (value === "unlimited") return value
  const nano = nanoOf(value)
  if (nano !== undefined && nano >= 0n) return nano
  throw new Wrong("PARLEY_TRIAL_BALANCE must be an amount such as 5 or 2.50, or unlimited")
}

const country = (entry: string): string => {
  if (/^[A-Z]{2}$/i.test(entry)) return entry.toUpperCase()
  throw new Wrong("PARLEY_CALL_COUNTRIES must be a list of two-letter countries such as US,CA")
}

const address = (name: string, value = ""): string => {
  if (isIP(value) === 0) throw new Wrong(`${name} must be an IP address`)
  return value
}

const ports = (name: string, value = ""): readonly [min: number, max: number] => {
  const [min, max] = (/^(\d{1,5})-(\d{1,5})$/.exec(value)?.slice(1) ?? []).map(Number)
  if (min === undefined || max === undefined || min < 1 || max > 65_535 || min >= max) {
    throw new Wrong(`${name} must be two ports with - between them, the lower first`)
  }
  return [min, max]
}

const jsonObject = (name: string, value: string | undefined): Readonly<Record<string, unknown>> => {
  try {
    const parsed: unknown = JSON.parse(value ?? "{}")
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)) return { ...parsed }
  } catch {
    // Said below.
  }
  throw new Wrong(`${name} must be a JSON object`)
}
