// What the room needs to know of the configuration: names, addresses and limits. The server makes it at the start.
import { Context } from "effect"

/** Where the telephone listens; with neither port nor TLS there is none. */
export interface SipSettings {
  /** UDP and TCP; 0 for any free one. */
  readonly port: number | undefined
  /** Whether somebody asked for the port: then it must be free. */
  readonly asked: boolean
  readonly tls: { readonly port: number; readonly certificateFile: string; readonly keyFile: string } | undefined
  /** IP address that peers reach, when it is none of this machine's own (NAT). */
  readonly publicAddress: string | undefined
  readonly rtpPorts: readonly [min: number, max: number] | undefined
}

/** Calls at the same time. Undefined: by the service's own rule, see `calls/callLimits.ts`. */
export interface CallLimitSettings {
  readonly service: number
  readonly workspace: number | undefined
  /** Of visitors without a key and of callers by telephone, at one agent. */
  readonly publicAgent: number | undefined
  /** Of visitors without a key, from one address. */
  readonly address: number | undefined
}

/** Where callers of WebRTC find the media; any free port of this machine when left out. */
export interface MediaSettings {
  readonly advertisedAddress?: string
  readonly portRange?: readonly [min: number, max: number]
}

/** Names, addresses and limits that the application works with. */
export class AppSettings extends Context.Service<
  AppSettings,
  {
    /** Address to listen on, an IP address or a host name. */
    readonly host: string
    readonly media: MediaSettings
    readonly sip: SipSettings
    /** Calls at the same time. */
    readonly limits: CallLimitSettings
    /** Countries that bought numbers may call, ISO 3166-1 alpha-2. */
    readonly callCountries: ReadonlyArray<string>
    /** Days that recordings are kept; 0: for ever. */
    readonly recordingsDays: number
    /** The word for the service in header and field names. */
    readonly vendor: string
    /** Says who asks, in SIP and HTTP. */
    readonly userAgent: string
    /** Whether the service's own list of language models has one that can judge a conversation. */
    readonly hasJudgingModel: boolean
  }
>()("@parley/app/AppSettings") {}
