// Frames and keys to RTP, one packet a tick. Silence is sent as sound: telephones take a pause in packets for a
// broken line. The clock follows the wall clock through late ticks (RFC 3550, 5.1); a key replaces the voice while it
// is held.
import { randomInt } from "node:crypto"
import { DtmfSender, tonesOf } from "./dtmf.ts"
import type { Agreed } from "./negotiation.ts"
import { headerBytes, writeRtpHeader } from "./rtpPacket.ts"
import type { VoiceCodec } from "./VoiceCodec.ts"

const tickMs = 20
/** Ticks later than this are a stall, not jitter: the clock jumps. */
const stallTicks = 2
const mostBytes = 1500
/** A packet may still wait in the socket while the next is written. */
const buffersInTurn = 16
/** Seconds from 1900 to 1970, for NTP time. */
const ntpEpoch = 2_208_988_800

/** One direction of sound and keys: a packet each tick of 20 ms, synchronously. */
export class RtpSender {
  readonly #codec: VoiceCodec
  readonly #send: (packet: Buffer) => void
  readonly #unitsPerTick: number
  readonly #buffers = Array.from({ length: buffersInTurn }, () => Buffer.alloc(mostBytes))
  readonly #silence: Int16Array
  readonly #tone: Int16Array
  readonly #ssrc: number
  #agreed: Agreed
  #keys: DtmfSender
  #tones: Int16Array | undefined
  #toneAt = 0
  #sequence: number
  #timestamp: number
  #startMs: number | undefined
  #index = 0
  #keyBegan = 0
  #wasQuiet = true
  #packets = 0
  #bytes = 0

  /** `before` is continued: same source, sequence going on (RFC 3264, 8.3.2). */
  constructor(codec: VoiceCodec, agreed: Agreed, send: (packet: Buffer) => void, before?: RtpSender) {
    this.#codec = codec
    this.#agreed = agreed
    this.#send = send
    this.#unitsPerTick = codec.clockRate / 50
    this.#silence = new Int16Array(codec.playRate / 50)
    this.#tone = new Int16Array(codec.playRate / 50)
    this.#keys = new DtmfSender(this.#unitsPerTick)
    this.#ssrc = before === undefined ? randomInt(2 ** 32) : before.#ssrc
    this.#sequence = before === undefined ? randomInt(2 ** 15) : before.#sequence
    this.#timestamp = before === undefined ? randomInt(2 ** 32) : before.#timestamp
  }

  change(agreed: Agreed): void {
    this.#agreed = agreed
  }

  press(row: string): void {
    if (this.#agreed.events !== undefined) return this.#keys.press(row)
    const tones = tonesOf(row, this.#codec.playRate)
    const waiting = this.#tones?.subarray(this.#toneAt)
    const all = new Int16Array((waiting?.length ?? 0) + tones.length)
    if (waiting !== undefined) all.set(waiting)
    all.set(tones, waiting?.length ?? 0)
    this.#tones = all
    this.#toneAt = 0
  }

  tick(frame: Int16Array | undefined, nowMs: number): void {
    this.#advance(nowMs)
    if (this.#keys.busy && this.#agreed.events !== undefined) {
      const key = this.#keys.next()
      if (key === undefined) return
      if (key.sinceUnits === 0) this.#keyBegan = this.#timestamp
      const buffer = this.#next(this.#agreed.events.payloadType, key.marker, this.#keyBegan)
      buffer.set(key.payload, headerBytes)
      return this.#leave(buffer, key.payload.length)
    }
    const sound = this.#toneFrame() ?? frame ?? this.#silence
    const buffer = this.#next(this.#agreed.payloadType, this.#wasQuiet && sound !== this.#silence, this.#timestamp)
    this.#wasQuiet = sound === this.#silence
    this.#leave(buffer, this.#codec.encode(sound, buffer.subarray(headerBytes)))
  }

  /** A sender report with our name (RFC 3550, 6.4.1 and 6.5). */
  report(epochMs: number): Buffer {
    const name = Buffer.from(`parley-${this.#ssrc.toString(16)}`)
    const text = 2 + name.length
    const chunk = 4 + text + (4 - (text % 4))
    const out = Buffer.alloc(28 + 4 + chunk)
    out[0] = 0x80
    out[1] = 200
    out.writeUInt16BE(6, 2)
    out.writeUInt32BE(this.#ssrc, 4)
    const seconds = epochMs / 1000 + ntpEpoch
    out.writeUInt32BE(Math.floor(seconds), 8)
    out.writeUInt32BE(Math.floor((seconds % 1) * 2 ** 32), 12)
    out.writeUInt32BE(this.#timestamp, 16)
    out.writeUInt32BE(this.#packets >>> 0, 20)
    out.writeUInt32BE(this.#bytes >>> 0, 24)
    out[28] = 0x81
    out[29] = 202
    out.writeUInt16BE(chunk / 4, 30)
    out.writeUInt32BE(this.#ssrc, 32)
    out[36] = 1
    out[37] = name.length
    name.copy(out, 38)
    return out
  }

  #advance(nowMs: number): void {
    this.#startMs ??= nowMs - tickMs
    const due = Math.round((nowMs - this.#startMs) / tickMs)
    const jump = due - this.#index > stallTicks ? due - this.#index : 1
    this.#index += jump
    this.#timestamp = (this.#timestamp + jump * this.#unitsPerTick) >>> 0
  }

  #toneFrame(): Int16Array | undefined {
    const tones = this.#tones
    if (tones === undefined) return undefined
    const size = this.#silence.length
    const part = tones.subarray(this.#toneAt, this.#toneAt + size)
    this.#toneAt += size
    if (this.#toneAt >= tones.length) this.#tones = undefined
    if (part.length === size) return part
    this.#tone.fill(0).set(part)
    return this.#tone
  }

  #next(payloadType: number, marker: boolean, timestamp: number): Buffer {
    this.#sequence = (this.#sequence + 1) & 0xffff
    const buffer = this.#buffers[this.#sequence % buffersInTurn] as Buffer
    writeRtpHeader(buffer, { payloadType, marker, sequence: this.#sequence, timestamp, ssrc: this.#ssrc })
    return buffer
  }

  #leave(buffer: Buffer, payloadBytes: number): void {
    this.#packets++
    this.#bytes += payloadBytes
    this.#send(buffer.subarray(0, headerBytes + payloadBytes))
  }
}
