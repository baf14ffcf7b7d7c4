// The port of the telephone: trunks, calls that come in, calls that are placed, and the leg of a call that is up.
// `../sip` implements it over SIP (RFC 3261), `../rtp` carries the sound. Nothing here throws out of a callback, and every
// promise settles within a known time.
import type { Leg, Telephone } from "@parley/engine/leg/Leg"
import type { Redacted } from "effect"

/** How SIP travels (RFC 3261, 18). */
export type SipTransport = "udp" | "tcp" | "tls"

/** Who may call a number. At least one factor is set; every one that is set must hold: a number without any is closed (403). */
export interface InboundTrunk {
  /** Of the number, for whoever asked. */
  readonly id: string
  /** The number was bought here: before every import of it. */
  readonly isBought?: boolean
  /** IP addresses and blocks; empty for any. */
  readonly allowedAddresses: ReadonlyArray<string>
  readonly digest: { readonly username: string; readonly password: Redacted.Redacted<string> } | undefined
}

/** Where calls are placed. */
export interface OutboundTrunk {
  /** `host` or `host:port`; without a port it is looked up (SRV, then A and AAAA; RFC 3263). */
  readonly uri: string
  /** `auto`: what the lookup says, else UDP. */
  readonly transport: SipTransport | "auto"
  readonly credentials: { readonly username: string; readonly password: Redacted.Redacted<string> } | undefined
}

/** One place where a trunk may be reached: what a lookup of its `uri` finds. */
export interface Located {
  readonly transport: SipTransport
  /** An IP address. */
  readonly address: string
  readonly port: number
  /** The trunk's own name, which its TLS certificate must hold. */
  readonly host: string
}

/** How long each step of a telephone call may take. Tests pass shorter ones. */
export interface SipTimings {
  /** An INVITE that gets no answer at all, not even 100: the host counts as dead. */
  readonly deadMs: number
  /** After a CANCEL the far side owes a 487 (RFC 3261, 9.1). */
  readonly cancelMs: number
  /** A transfer that nobody reports on. */
  readonly referMs: number
  /** OPTIONS to a trunk. */
  readonly checkMs: number
  /** How long a finished call answers retransmissions: 64 T1 on UDP (RFC 3261, 17.2), less on connections. */
  readonly lingerMs: { readonly unreliable: number; readonly reliable: number }
  /** Between the BYEs of a server that closes and the end of its sockets. */
  readonly goodbyeMs: number
  /** An offer of ours in a 200 that no ACK answers. */
  readonly ackMs: number
  /** One second of session timers and of ringing. */
  readonly secondMs: number
}

/** Extra headers of a request: names as they are written, values of printable characters. */
export type SipHeaders = Readonly<Record<string, string>>

/** A call that rings. Exactly one of `refuse` and `answer` counts; after `cancelled` neither does. */
export interface IncomingCall {
  readonly trunkId: string
  /** SIP Call-ID of its INVITE. */
  readonly callId: string
  /** The caller as the trunk says it (P-Asserted-Identity, else From); empty when withheld. Not judged. */
  readonly callerNumber: string
  readonly dialedNumber: string
  /** 180, once. */
  readonly ring: () => void
  /** 486: busy here; 503: no slot; 480: nobody answers; 404: no such number. */
  readonly refuse: (status: 404 | 480 | 486 | 488 | 500 | 503) => void
  /** 200; the leg is there when media may flow, or the call was lost before (undefined). At most 40 s. */
  readonly answer: () => Promise<PhoneLeg | undefined>
  /** The caller gave up before an answer; called at most once. */
  readonly onCancelled: (tell: () => void) => void
}

/** A call to place. */
export interface DialRequest {
  readonly trunk: OutboundTrunk
  /** Caller id: E.164. */
  readonly from: string
  /** E.164 number, or a `sip:` URI. */
  readonly to: string
  readonly headers: SipHeaders
  /** Ringing for longer is `no_answer`. The service passes 45 s. */
  readonly ringSeconds: number
}

/** How a placed call came out: SIP statuses as `sipStatus`, null where nobody answered. */
export type DialOutcome =
  | { readonly status: "answered"; readonly leg: PhoneLeg; readonly callId: string }
  /** 486 and 600: busy; 408, 480, 487 and ringing too long: no_answer; the rest and a dead host after 8 s: failed. */
  | { readonly status: "busy" | "no_answer" | "failed"; readonly sipStatus: number | null; readonly callId: string }

/** A call that is being placed. */
export interface Dialling {
  readonly outcome: Promise<DialOutcome>
  /** Gives up: CANCEL, or BYE when the answer was quicker. */
  readonly cancel: () => void
}

/** A telephone call that is up. `onDigit` of its ears takes RFC 4733 and SIP INFO digits, each once. */
export interface PhoneLeg extends Leg {
  readonly callId: string
  /**
   * Digits leave as RFC 4733 events where the far side takes them, as tones in the voice otherwise. A transfer is a
   * REFER (RFC 3515): `transferred` when the NOTIFY said 200, `refused` by a final answer, a NOTIFY or silence.
   */
  readonly telephone: Telephone
  /** What was sent and received, in order, for people; keys and digests left out. */
  readonly sipTrace: () => ReadonlyArray<SipTraceLine>
}

/** One message or event of a call, for `parley sip trace` and the session's record. */
export interface SipTraceLine {
  /** Milliseconds since the first. */
  readonly atMs: number
  readonly direction: "in" | "out" | "note"
  /** `INVITE`, `180 Ringing`, `ACK`, or a note such as `media from another port`. */
  readonly what: string
  /** `CSeq` or other detail; never a credential. */
  readonly detail: string
}

/** The sockets of a SIP server, and its addresses as far sides see them. */
export interface SipNetwork {
  /** Address to listen on. */
  readonly host: string
  /** UDP and TCP; undefined closes them. 0 for any free one. */
  readonly port: number | undefined
  readonly tls: { readonly port: number; readonly certificate: string; readonly key: string } | undefined
  /** PEM: who may sign the certificates of TLS trunks; undefined for the system's. */
  readonly authorities?: string | undefined
  /** In Via, Contact and SDP when it is not the address a packet leaves from (NAT). */
  readonly publicAddress: string | undefined
  /** UDP ports for RTP and RTCP, even ones first; undefined for any. */
  readonly rtpPorts: readonly [min: number, max: number] | undefined
}

/** What a SIP server asks and tells. */
export interface SipHandlers {
  /**
   * Who may call this number: every trunk that somebody gave it, those that count more first where nothing else tells
   * them apart; empty: no such number. Asked for every INVITE out of dialog; the call is that trunk's which admits it.
   */
  readonly trunksOf: (dialedNumber: string) => Promise<ReadonlyArray<InboundTrunk>>
  /** A call that passed its trunk's factors. */
  readonly onCall: (call: IncomingCall) => void
  /** The trace of a call that never got a leg: refused, cancelled, unauthorised, or a dial that failed. */
  readonly onTrace?: (callId: string, sipTrace: ReadonlyArray<SipTraceLine>) => void
  /** A fault of ours or of the SIP library: the message or the call that met it has ended there, and nothing else. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** @param name The host name the address was found under, where it was. */
export type MayReach = (address: string, name?: string) => boolean

/** Where to listen, whom to admit, and who takes the calls. */
export interface SipServerOptions {
  readonly network: SipNetwork
  readonly handlers: SipHandlers
  /**
   * Whether a far side may make us send to this IP address: by its trunk's place (found under `name`), within a dialog
   * (Contact, Record-Route) or by its session description. Answers go to where a message came from whatever it says.
   */
  readonly mayReach: MayReach
  /** In `User-Agent` and `Server`. */
  readonly userAgent: string
  /** Shorter ones, for tests. */
  readonly timings?: Partial<SipTimings> | undefined
  /** Where a trunk is, in the order to try; the DNS when left out. */
  readonly find?: ((trunk: OutboundTrunk) => Promise<ReadonlyArray<Located>>) | undefined
  /** The clock of nonces and of media, in milliseconds. */
  readonly nowMs?: (() => number) | undefined
}

/** An open SIP server. Nothing of it throws or rejects. */
export interface SipServer {
  /** Ports that are open, as bound. */
  readonly ports: { readonly udp?: number; readonly tcp?: number; readonly tls?: number }
  readonly dial: (request: DialRequest) => Dialling
  /** OPTIONS to a trunk: its status, or null for silence within 8 s. */
  readonly check: (trunk: OutboundTrunk) => Promise<{ readonly sipStatus: number | null; readonly tookMs: number }>
  /** Calls that are up or ringing. */
  readonly count: () => number
  /** Refuses new calls with 503, says BYE to the rest, closes the ports. */
  readonly close: () => Promise<void>
}
