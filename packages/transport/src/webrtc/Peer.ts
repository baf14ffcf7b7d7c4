// One RTCPeerConnection with what werift 0.25 needs around it to survive real clients: repaired offers,
// candidates that arrive before their generation, a second run of ICE after a restart, full ICE only
// (ICE-lite never completes DTLS with Chrome). Descriptions carry all our candidates: nothing is trickled out.
import "../rtp/KeyObjectCache.ts"
import {
  MediaStream,
  RTCPeerConnection,
  RTCRtpCodecParameters,
  RtpHeader,
  RtpPacket,
  type RTCDataChannel,
  type RTCRtpTransceiver
} from "werift"
import {
  advertise,
  dropUnusableCandidates,
  iceUfrag,
  readCandidate,
  repairOffer,
  type ClientCandidate
} from "./ClientSdp.ts"
import type { ReceiverRtp } from "../rtp/RtpReceiver.ts"
import type { SpokenPacket } from "./OpusSender.ts"

/** Where a peer connection may listen, and how it is reached. */
export interface PeerOptions {
  /** The address clients reach this machine at, when it is behind NAT. */
  readonly advertisedAddress?: string
  /** UDP ports; one is taken per connection and interface, so two and more. */
  readonly portRange?: readonly [min: number, max: number]
}

/** What a peer connection tells, synchronously. */
export interface PeerEvents {
  readonly onRtp: (rtp: ReceiverRtp) => void
  readonly onRtcp: () => void
  readonly onChannel: (channel: RTCDataChannel) => void
  readonly onConnected: () => void
}

/** Negotiation is a few milliseconds of work; past this something is stuck. */
const negotiationMs = 5000
const maxHeldCandidates = 64
/** One client offers a handful; a stranger could send them without end. */
const maxCandidates = 256

/** One RTCPeerConnection. Negotiation rejects for what cannot be negotiated, within 5 s. */
export class Peer {
  readonly #pc: RTCPeerConnection
  readonly #options: PeerOptions
  #voice: RTCRtpTransceiver | undefined
  #remoteUfrag: string | undefined
  #candidates = 0
  #held: Array<ClientCandidate> = []
  #closing: Promise<void> | undefined

  constructor(options: PeerOptions, events: PeerEvents) {
    this.#options = options
    this.#pc = new RTCPeerConnection({
      codecs: { audio: [opus()], video: [vp8()] },
      bundlePolicy: "max-bundle",
      iceServers: [],
      iceAdditionalHostAddresses: ["127.0.0.1"],
      iceUseIpv6: false,
      maxMessageSize: 65_536,
      ...(options.portRange === undefined ? {} : { icePortRange: [...options.portRange] })
    })
    this.#pc.onTrack.subscribe((track) => {
      if (track.kind !== "audio") return
      track.onReceiveRtp.subscribe(({ header, payload }) =>
        events.onRtp({ ssrc: header.ssrc, sequence: header.sequenceNumber, timestamp: header.timestamp, payload })
      )
    })
    this.#pc.onTransceiverAdded.subscribe((transceiver) => {
      transceiver.receiver.onRtcp.subscribe(events.onRtcp)
      transceiver.sender.onRtcp.subscribe(events.onRtcp)
    })
    this.#pc.onDataChannel.subscribe(events.onChannel)
    this.#pc.connectionStateChange.subscribe((state) => {
      if (state === "connected") events.onConnected()
    })
  }

  /** The section our voice goes out on, once negotiated. */
  get voiceMid(): string | undefined {
    return this.#voice?.mid ?? undefined
  }

  /** Adds our voice to a connection that we offer. */
  offerVoice(streamId: string): void {
    this.#voice = this.#pc.addTransceiver("audio", {
      direction: "sendonly",
      streams: [new MediaStream({ id: streamId })]
    })
  }

  createChannel(
    label: string,
    options: { readonly ordered: boolean; readonly maxRetransmits?: number }
  ): RTCDataChannel {
    return this.#pc.createDataChannel(label, { ...options })
  }

  /**
   * Answers a client's offer. With `voiceStreamId`, our voice takes the first section on which the client
   * only receives; `voiceMid` tells whether there was one.
   */
  async answer(offer: string, voiceStreamId?: string): Promise<string> {
    // werift reads any text at all as an offer of nothing.
    if (iceUfrag(offer) === undefined) throw new Error("not an offer")
    const restarts = this.#restarts(offer)
    const sdp = dropUnusableCandidates(repairOffer(offer))
    await bounded(this.#pc.setRemoteDescription({ type: "offer", sdp }))
    if (voiceStreamId !== undefined && this.#voice === undefined) this.#takeVoiceSection(voiceStreamId)
    this.#idleVideoSections()
    // As DTLS client werift would wait 100 ms before its first word: let the far side begin.
    for (const transport of this.#pc.dtlsTransports) if (transport.state === "new") transport.role = "server"
    const answer = await bounded(this.#pc.createAnswer())
    this.#gatherHereOnly()
    await bounded(this.#pc.setLocalDescription(answer))
    this.#settle(offer, restarts)
    return this.#localSdp()
  }

  async offer(restart: boolean): Promise<string> {
    const offer = await bounded(this.#pc.createOffer({ iceRestart: restart }))
    this.#gatherHereOnly()
    await bounded(this.#pc.setLocalDescription(offer))
    return this.#localSdp()
  }

  async accept(answer: string): Promise<void> {
    const restarts = this.#restarts(answer)
    await bounded(this.#pc.setRemoteDescription({ type: "answer", sdp: dropUnusableCandidates(answer) }))
    this.#settle(answer, restarts)
  }

  /** Returns at once: adding a candidate may take werift seconds and must not hold up the messages behind it. */
  addCandidate(json: string): void {
    const candidate = readCandidate(json)
    if (candidate === undefined || ++this.#candidates > maxCandidates) return
    const isAhead =
      this.#remoteUfrag === undefined || (candidate.ufrag !== undefined && candidate.ufrag !== this.#remoteUfrag)
    if (!isAhead) this.#add(candidate)
    else if (this.#held.length < maxHeldCandidates) this.#held.push(candidate)
  }

  sendVoice(packet: SpokenPacket): void {
    const voice = this.#voice
    // The number the client gave Opus: 111 in Chrome, 109 in Firefox.
    const payloadType = voice?.codecs[0]?.payloadType
    if (voice === undefined || payloadType === undefined) return
    const header = new RtpHeader({
      payloadType,
      sequenceNumber: packet.sequence,
      timestamp: packet.timestamp,
      marker: packet.marker
    })
    voice.sender.sendRtp(new RtpPacket(header, packet.payload)).catch(ignore)
  }

  /** Ports and timers are free when this resolves. Idempotent. */
  close(): Promise<void> {
    this.#held = []
    return (this.#closing ??= this.#pc.close().catch(ignore))
  }

  #takeVoiceSection(streamId: string): void {
    // werift notes the offered direction as the answerer would write it: a client's recvonly is our sendonly.
    const section = this.#pc
      .getTransceivers()
      .find((t) => t.kind === "audio" && t.offerDirection === "sendonly" && !t.stopped && !t.pendingRejection)
    if (section === undefined) return
    section.setDirection("sendonly")
    section.sender.setStreams([new MediaStream({ id: streamId })])
    this.#voice = section
  }

  /**
   * Video is neither sent nor taken, but its sections are answered as inactive, never refused (port 0). A refusal
   * stops the browser's transceiver, and an offer that livekit-client made while it was still setting the first
   * one then names a section that is gone: "Transceiver not found based on m-line index", and a full reconnect.
   */
  #idleVideoSections(): void {
    for (const section of this.#pc.getTransceivers()) if (section.kind === "video") section.setDirection("inactive")
  }

  #restarts(sdp: string): boolean {
    return this.#remoteUfrag !== undefined && this.#remoteUfrag !== iceUfrag(sdp)
  }

  /** The remote description is in force: run ICE again if it restarts, and let in what came too early. */
  #settle(sdp: string, restarts: boolean): void {
    this.#remoteUfrag = iceUfrag(sdp)
    // werift's own connect() returns early here, for DTLS is connected already.
    if (restarts) for (const transport of this.#pc.iceTransports) transport.start().catch(ignore)
    const held = this.#held
    this.#held = []
    for (const candidate of held) {
      if (candidate.ufrag === undefined || candidate.ufrag === this.#remoteUfrag) this.#add(candidate)
    }
  }

  #add({ candidate, sdpMLineIndex, sdpMid }: ClientCandidate): void {
    const where = sdpMid !== undefined ? { sdpMid } : { sdpMLineIndex: sdpMLineIndex ?? 0 }
    this.#pc.addIceCandidate({ candidate, ...where }).catch(ignore)
  }

  /** werift asks a public STUN server when none is named; a server knows its addresses. */
  #gatherHereOnly(): void {
    for (const { connection } of this.#pc.iceTransports) delete connection.stunServer
  }

  #localSdp(): string {
    const sdp = this.#pc.localDescription?.sdp ?? ""
    return this.#options.advertisedAddress === undefined ? sdp : advertise(sdp, this.#options.advertisedAddress)
  }
}

const opus = (): RTCRtpCodecParameters =>
  new RTCRtpCodecParameters({
    mimeType: "audio/opus",
    clockRate: 48_000,
    channels: 2,
    payloadType: 111,
    parameters: "minptime=10;useinbandfec=1"
  })

/** Never used: werift refuses sections without a codec in common, and every browser has VP8 (RFC 7742). */
const vp8 = (): RTCRtpCodecParameters =>
  new RTCRtpCodecParameters({ mimeType: "video/VP8", clockRate: 90_000, payloadType: 96 })

const ignore = (): void => undefined

/** werift waits for ever on a connection that was closed meanwhile. */
const bounded = <A>(work: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("negotiation took too long")), negotiationMs)
  })
  return Promise.race([work, limit]).finally(() => clearTimeout(timer))
}
