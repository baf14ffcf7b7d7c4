// Every setting of the service, read once from the environment; `config/settingsTable.ts` says what they mean. A wrong
// setting stops the start with one line that names it.
import type { CallLimitSettings, MediaSettings, SipSettings } from "@parley/app/AppSettings"
import type { SynthesizerName, TranscriberName } from "@parley/speech/Providers"
import type { IpBlock } from "@parley/workspace/outbound/IpAddress"
import { Config as Setting, ConfigProvider, Effect, Redacted, type Result } from "effect"
import {
  embeddings,
  type Endpoint,
  type EngineSettings,
  language,
  type LanguageModelName,
  recognition,
  speaking
} from "./config/engineSettings.ts"
import {
  always,
  amountOrUnlimited,
  blocks,
  countries,
  hostsAndBlocks,
  ipAddress,
  jsonObject,
  list,
  ports,
  secret,
  secrets,
  text,
  textOr,
  url,
  whole,
  wholeOrUnset,
  wrong
} from "./config/fields.ts"

/** The whole configuration, checked. Ports are 0 for any free one; folders are as given, relative to the working folder. */
export interface Config {
  readonly host: string
  readonly port: number
  readonly data: string
  readonly publicUrl: string | undefined
  readonly apiKey: Redacted.Redacted<string> | undefined
  readonly databaseUrl: Redacted.Redacted<string> | undefined
  readonly secretKey: Redacted.Redacted<string> | undefined
  /** Keys that were used before it. */
  readonly formerSecretKeys: ReadonlyArray<Redacted.Redacted<string>>
  readonly tts: EngineSettings<SynthesizerName> & { readonly voices: ReadonlyArray<string> }
  readonly asr: EngineSettings<TranscriberName>
  readonly llm: EngineSettings<LanguageModelName> & { readonly extraBody: Readonly<Record<string, unknown>> }
  /** Documents are searched by meaning, too. */
  readonly embeddings: Endpoint | undefined
  readonly media: MediaSettings
  readonly sip: SipSettings
  /** Countries that bought numbers may call, ISO 3166-1 alpha-2. */
  readonly callCountries: ReadonlyArray<string>
  /** How long recordings are kept, in days; 0 for ever. */
  readonly recordingsDays: number
  /** Proxies whose `X-Forwarded-For` says who asks. */
  readonly trustedProxies: ReadonlyArray<IpBlock>
  /** Live calls at the same time. */
  readonly maxCalls: number
  /** Live calls of one workspace, of strangers at one agent, and of strangers from one address; undefined: the service's own rule. */
  readonly maxCallsOf: Omit<CallLimitSettings, "service">
  /** What each workspace may spend, in nano-units; undefined: five units, the first workspace without limit. */
  readonly trialBalance: bigint | "unlimited" | undefined
  readonly vendor: string
  readonly vendorAliases: ReadonlyArray<string>
  readonly allowedPrivate: ReadonlyArray<string>
  readonly logLevel: "debug" | "info" | "warn" | "error"
}

const web = ["http:", "https:"]
const logLevels = ["debug", "info", "warn", "error"] as const

const media: Setting.Config<MediaSettings> = Setting.map(
  Setting.all({ advertisedAddress: ipAddress("PARLEY_MEDIA_ADDRESS"), portRange: ports("PARLEY_MEDIA_PORTS") }),
  ({ advertisedAddress, portRange }) => ({
    ...(advertisedAddress === undefined ? {} : { advertisedAddress }),
    ...(portRange === undefined ? {} : { portRange })
  })
)

const isOpen = Setting.map(textOr("PARLEY_SIP_PORT"), (value) => value !== "off")

const tls = Setting.mapEffect(
  Setting.all({
    port: text("PARLEY_SIP_TLS_PORT"),
    certificateFile: text("PARLEY_SIP_TLS_CERT"),
    keyFile: text("PARLEY_SIP_TLS_KEY")
  }),
  Effect.fnUntraced(function* ({ certificateFile, keyFile, port }) {
    if (port === undefined) return undefined
    if (certificateFile === undefined || keyFile === undefined) {
      return yield* wrong("PARLEY_SIP_TLS_PORT needs PARLEY_SIP_TLS_CERT and PARLEY_SIP_TLS_KEY")
    }
    return { certificateFile, keyFile }
  })
)

const sip: Setting.Config<SipSettings> = Setting.all({
  port: Setting.flatMap(isOpen, (open): Setting.Config<number | undefined> =>
    open ? whole("PARLEY_SIP_PORT", 0, 65_535) : Setting.succeed(undefined)
  ),
  asked: Setting.map(text("PARLEY_SIP_PORT"), (port) => port !== undefined),
  tls: Setting.flatMap(tls, (files): Setting.Config<SipSettings["tls"]> =>
    files === undefined
      ? Setting.succeed(undefined)
      : Setting.map(whole("PARLEY_SIP_TLS_PORT", 0, 65_535), (port) => ({ port, ...files }))
  ),
  publicAddress: ipAddress("PARLEY_PUBLIC_ADDRESS"),
  rtpPorts: ports("PARLEY_RTP_PORTS")
})

const config: Setting.Config<Config> = Setting.map(
  Setting.all({
    host: textOr("HOST"),
    port: whole("PORT", 0, 65_535),
    data: textOr("PARLEY_DATA"),
    publicUrl: url("PARLEY_PUBLIC_URL", web),
    apiKey: secret("PARLEY_API_KEY", 32),
    databaseUrl: Setting.map(url("DATABASE_URL", ["postgres:", "postgresql:"]), (address) =>
      address === undefined ? undefined : Redacted.make(address)
    ),
    secretKey: secret("PARLEY_SECRET_KEY", 16),
    formerSecretKeys: secrets("PARLEY_SECRET_KEY_OLD", 16),
    tts: speaking,
    asr: recognition,
    llm: language,
    llmExtraBody: jsonObject("PARLEY_LLM_EXTRA_BODY"),
    embeddings,
    media,
    sip,
    callCountries: countries("PARLEY_CALL_COUNTRIES"),
    recordingsDays: whole("PARLEY_RECORDINGS_DAYS", 0, 36_500),
    maxCalls: whole("PARLEY_MAX_CALLS", 1, 10_000),
    maxCallsOf: Setting.all({
      workspace: wholeOrUnset("PARLEY_MAX_CALLS_PER_WORKSPACE", 1, 10_000),
      publicAgent: wholeOrUnset("PARLEY_MAX_PUBLIC_CALLS_PER_AGENT", 0, 10_000),
      address: wholeOrUnset("PARLEY_MAX_PUBLIC_CALLS_PER_ADDRESS", 1, 10_000)
    }),
    trialBalance: amountOrUnlimited("PARLEY_TRIAL_BALANCE"),
    vendor: always(
      "PARLEY_VENDOR",
      (value) => (/^[a-z][a-z0-9-]{0,31}$/.test(value) ? value : undefined),
      "PARLEY_VENDOR must be a lower-case word of letters, digits and -"
    ),
    vendorAliases: list("PARLEY_VENDOR_ALIASES"),
    allowedPrivate: hostsAndBlocks("PARLEY_ALLOW_PRIVATE_NETWORKS"),
    trustedProxies: blocks("PARLEY_TRUSTED_PROXIES"),
    logLevel: always(
      "PARLEY_LOG_LEVEL",
      (value) => logLevels.find((level) => level === value),
      `PARLEY_LOG_LEVEL must be ${logLevels.slice(0, -1).join(", ")} or ${logLevels.at(-1)}`
    )
  }),
  ({ llm, llmExtraBody, ...rest }) => ({ ...rest, llm: { ...llm, extraBody: llmExtraBody } })
)

/** Read by the exporter itself; looked at here so that a wrong one is told. */
const telemetry = url("OTEL_EXPORTER_OTLP_ENDPOINT", web)

/** The whole configuration, or one line that says what is wrong. */
export const readConfig = (env: Readonly<Record<string, string | undefined>>): Result.Result<Config, string> => {
  // Names are taken whole: to the library's own reader of environments PARLEY_TTS would be a group of PARLEY_TTS_VOICES.
  const provider = ConfigProvider.make((path) => {
    const value = env[path.join("_")]
    return Effect.succeed(value === undefined ? undefined : ConfigProvider.makeValue(value))
  })
  return Effect.runSync(
    Effect.result(
      Effect.mapError(
        Setting.map(Setting.all([config, telemetry]), ([settings]) => settings).parse(provider),
        ({ cause }) => cause.message
      )
    )
  )
}
