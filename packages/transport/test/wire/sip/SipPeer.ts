// The other side of a call, word by word: what is sent is written here, what comes is looked at as it is. No SIP
// library, so that the server is not judged by its own kind.
import { createSocket, type RemoteInfo } from "node:dgram"
import { connect, createServer, type Server, type Socket } from "node:net"
import { randomBytes } from "node:crypto"

export interface Heard {
  readonly text: string
  readonly method: string | undefined
  readonly status: number | undefined
  readonly callId: string
  readonly cseq: number
  readonly cseqMethod: string
  readonly body: string
  readonly port: number
  readonly header: (name: string) => string
  readonly headers: (name: string) => ReadonlyArray<string>
  /** Answers on the way it came. */
  readonly back: (text: string) => void
}

export type Way = "udp" | "tcp"

const waitMs = 8_000

export class SipPeer {
  readonly way: Way
  readonly #inbox: Array<Heard> = []
  readonly #waiting = new Set<{ readonly wants: (heard: Heard) => boolean; readonly take: (heard: Heard) => void }>()
  readonly #closers: Array<() => void> = []
  /** Everything, in order. */
  readonly log: Array<string> = []
  #write: (text: string) => void = () => undefined
  #port = 0
  /** Looked at first; true when it was dealt with. */
  onHeard: ((heard: Heard) => boolean) | undefined
  /** Of the connection, on TCP. */
  socket: Socket | undefined
  #closed = false

  private constructor(way: Way) {
    this.way = way
  }

  /** Speaks to a server at this port; 0: to who spoke to it. */
  static async open(way: Way, serverPort: number, address = "127.0.0.1"): Promise<SipPeer> {
    const peer = new SipPeer(way)
    if (way === "udp") {
      const socket = createSocket("udp4")
      await new Promise<void>((done) => socket.bind(0, address, done))
      const sendTo = (text: string, port: number) => void (peer.#closed || socket.send(text, port, "127.0.0.1"))
      let to = serverPort
      socket.on("message", (bytes, from: RemoteInfo) => {
        if (serverPort === 0) to = from.port
        peer.#heard(bytes.toString(), from.port, (text) => sendTo(text, from.port))
      })
      peer.#write = (text) => sendTo(text, to)
      peer.#port = socket.address().port
      peer.#closers.push(() => socket.close())
      return peer
    }
    const socket = connect(serverPort, "127.0.0.1")
    await new Promise<void>((done, fail) => socket.once("connect", done).once("error", fail))
    peer.#carry(socket)
    peer.#write = (text) => void socket.write(text)
    peer.#port = socket.localPort ?? 0
    return peer
  }

  /** SipTimings to be called. */
  static async listen(way: Way): Promise<SipPeer> {
    if (way === "udp") return SipPeer.open("udp", 0)
    const peer = new SipPeer("tcp")
    const server: Server = createServer((socket) => peer.#carry(socket))
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
    const address = server.address()
    peer.#port = typeof address === "object" && address !== null ? address.port : 0
    peer.#write = (text) => void peer.socket?.write(text)
    peer.#closers.push(() => server.close())
    return peer
  }

  get port(): number {
    return this.#port
  }

  get connected(): boolean {
    return this.socket !== undefined && !this.socket.destroyed
  }

  send(text: string): void {
    this.log.push(`> ${text}`)
    this.#write(text)
  }

  /** The first of its kind that nobody has taken: a method, a status, or whatever a test asks for. */
  async next(wants: string | number | ((heard: Heard) => boolean), withinMs = waitMs): Promise<Heard> {
    const test =
      typeof wants === "function"
        ? wants
        : (heard: Heard) => (typeof wants === "string" ? heard.method === wants : heard.status === wants)
    const at = this.#inbox.findIndex(test)
    if (at >= 0) return this.#inbox.splice(at, 1)[0] as Heard
    return new Promise((resolve, reject) => {
      const waiter = {
        wants: test,
        take: (heard: Heard) => {
          clearTimeout(limit)
          this.#waiting.delete(waiter)
          resolve(heard)
        }
      }
      const limit = setTimeout(() => {
        this.#waiting.delete(waiter)
        reject(new Error(`never heard ${String(wants)}; the log is\n${this.log.join("\n")}`))
      }, withinMs)
      this.#waiting.add(waiter)
    })
  }

  /** Taken by nobody so far. */
  unclaimed(wants: string | number): ReadonlyArray<Heard> {
    return this.#inbox.filter((heard) => heard.method === wants || heard.status === wants)
  }

  close(): void {
    this.#closed = true
    this.socket?.destroy()
    for (const close of this.#closers.splice(0)) close()
  }

  #carry(socket: Socket): void {
    this.socket = socket
    socket.on("error", () => undefined)
    let held = Buffer.alloc(0)
    socket.on("data", (bytes: Buffer) => {
      held = Buffer.concat([held, bytes])
      for (;;) {
        while (held.subarray(0, 2).toString() === "\r\n") {
          this.log.push("< pong")
          held = held.subarray(2)
        }
        const end = held.indexOf("\r\n\r\n")
        if (end < 0) return
        const length = Number(/^content-length: *(\d+)/im.exec(held.toString("latin1", 0, end))?.[1] ?? 0)
        if (held.length < end + 4 + length) return
        const text = held.toString("utf8", 0, end + 4 + length)
        held = held.subarray(end + 4 + length)
        this.#heard(text, socket.remotePort ?? 0, (reply) => void socket.write(reply))
      }
    })
  }

  #heard(text: string, port: number, write: (text: string) => void): void {
    this.log.push(`< ${text}`)
    const heard = read(text, port, (reply) => {
      this.log.push(`> ${reply}`)
      write(reply)
    })
    if (this.onHeard?.(heard) === true) return
    for (const waiter of this.#waiting) {
      if (waiter.wants(heard)) return waiter.take(heard)
    }
    this.#inbox.push(heard)
  }
}

export const read = (text: string, port: number, back: (text: string) => void): Heard => {
  const [head = "", ...rest] = text.split("\r\n\r\n")
  const headers = (name: string): ReadonlyArray<string> =>
    [...head.matchAll(new RegExp(`^${name} *: *(.*)$`, "gim"))].map(([, value = ""]) => value.trim())
  const header = (name: string): string => headers(name)[0] ?? ""
  const [number = "0", cseqMethod = ""] = header("cseq").split(/\s+/)
  const status = /^SIP\/2\.0 (\d{3})/.exec(text)?.[1]
  return {
    text,
    method: status === undefined ? text.slice(0, text.indexOf(" ")) : undefined,
    status: status === undefined ? undefined : Number(status),
    callId: header("call-id"),
    cseq: Number(number),
    cseqMethod,
    body: rest.join("\r\n\r\n"),
    port,
    header,
    headers,
    back
  }
}

export interface Said {
  readonly headers?: ReadonlyArray<string> | undefined
  readonly body?: string | undefined
  /** Empty for none. */
  readonly type?: string | undefined
  /** Instead of a new one. */
  readonly branch?: string | undefined
  readonly cseq?: number | undefined
  readonly via?: string | undefined
  /** Left out of the To header. */
  readonly untagged?: boolean | undefined
  /** Only made, not sent. */
  readonly kept?: boolean | undefined
}

/** One call, as its caller or its callee keeps it. */
export class Talk {
  readonly peer: SipPeer
  readonly callId: string
  readonly ourTag: string
  theirTag = ""
  cseq: number
  ourUri: string
  theirUri: string
  target: string
  route: ReadonlyArray<string> = []
  inviteBranch = ""
  inviteCseq = 0
  contact: string

  constructor(peer: SipPeer, to: string, from = "+15550199") {
    this.peer = peer
    this.callId = `${token()}@peer`
    this.ourTag = token()
    this.cseq = 1
    this.ourUri = `<sip:${from}@127.0.0.1>`
    this.theirUri = `<sip:${to}@127.0.0.1>`
    this.target = `sip:${to}@127.0.0.1`
    this.contact = `<sip:peer@127.0.0.1:${peer.port}${peer.way === "tcp" ? ";transport=tcp" : ""}>`
  }

  /** The side that was called. */
  static calledBy(peer: SipPeer, invite: Heard): Talk {
    const talk = new Talk(peer, "x")
    Object.assign(talk, { callId: invite.callId })
    talk.theirTag = tagOf(invite.header("from"))
    talk.ourUri = invite.header("to")
    talk.theirUri = invite.header("from").replace(/;.*$/, "")
    talk.target = /<([^>]+)>/.exec(invite.header("contact"))?.[1] ?? ""
    talk.cseq = 100
    return talk
  }

  request(method: string, said: Said = {}): string {
    const isAck = method === "ACK"
    const sameAsInvite = method === "CANCEL"
    const cseq = said.cseq ?? (isAck || sameAsInvite ? this.inviteCseq : this.cseq++)
    const branch = said.branch ?? (sameAsInvite && this.inviteBranch !== "" ? this.inviteBranch : `z9hG4bK${token()}`)
    if (method === "INVITE") {
      this.inviteBranch = branch
      this.inviteCseq = cseq
    }
    const tag = this.theirTag === "" || said.untagged === true || sameAsInvite ? "" : `;tag=${this.theirTag}`
    const text = message(
      `${method} ${this.target} SIP/2.0`,
      [
        said.via ?? `Via: SIP/2.0/${this.peer.way.toUpperCase()} 127.0.0.1:${this.peer.port};rport;branch=${branch}`,
        `From: ${this.ourUri};tag=${this.ourTag}`,
        `To: ${this.theirUri}${tag}`,
        `Call-ID: ${this.callId}`,
        `CSeq: ${cseq} ${method}`,
        `Contact: ${this.contact}`,
        "Max-Forwards: 70",
        ...this.route.map((route) => `Route: ${route}`),
        ...(said.headers ?? [])
      ],
      said.body,
      said.type
    )
    if (said.kept !== true) this.peer.send(text)
    return text
  }

  /** The answer to the latest request of this method. */
  async expect(status: number, method = "INVITE", withinMs?: number): Promise<Heard> {
    const heard = await this.peer.next(
      (one) =>
        one.callId === this.callId &&
        one.cseqMethod === method &&
        (one.status === status || ((one.status ?? 0) >= 200 && status >= 200)),
      withinMs
    )
    if (heard.status !== status) throw new Error(`${heard.status} instead of ${status}: ${heard.text}`)
    if (method === "INVITE" && status > 100) this.theirTag = tagOf(heard.header("to"))
    const contact = /<([^>]+)>/.exec(heard.header("contact"))?.[1]
    if (method === "INVITE" && status >= 200 && status < 300 && contact !== undefined) this.target = contact
    return heard
  }

  /** A request of theirs within the call. */
  heard(method: string, withinMs?: number): Promise<Heard> {
    return this.peer.next((one) => one.callId === this.callId && one.method === method, withinMs)
  }

  /** INVITE, 200, ACK. */
  async connect(said: Said = {}): Promise<Heard> {
    this.request("INVITE", said)
    const ok = await this.expect(200)
    this.request("ACK")
    return ok
  }

  /** BYE and its 200. */
  async bye(): Promise<void> {
    this.request("BYE")
    await this.expect(200, "BYE")
  }

  answer(request: Heard, status: number, said: Said = {}): void {
    request.back(reply(request, status, { ...said, tag: this.ourTag, contact: this.contact }))
  }
}

export interface Replied extends Said {
  readonly tag?: string | undefined
  readonly contact?: string | undefined
}

export const reply = (request: Heard, status: number, said: Replied = {}): string => {
  const to = request.header("to")
  const tagged = /;tag=/.test(to) || status === 100 ? to : `${to};tag=${said.tag ?? "peer"}`
  return message(
    `SIP/2.0 ${status} ${status < 300 ? "OK" : "No"}`,
    [
      ...request.headers("via").map((via) => `Via: ${via}`),
      ...request.headers("record-route").map((route) => `Record-Route: ${route}`),
      `From: ${request.header("from")}`,
      `To: ${tagged}`,
      `Call-ID: ${request.callId}`,
      `CSeq: ${request.header("cseq")}`,
      ...(said.contact === undefined ? [] : [`Contact: ${said.contact}`]),
      ...(said.headers ?? [])
    ],
    said.body,
    said.type
  )
}

export const message = (start: string, headers: ReadonlyArray<string>, body = "", type = "application/sdp"): string =>
  [
    start,
    ...headers,
    ...(body === "" || type === "" ? [] : [`Content-Type: ${type}`]),
    `Content-Length: ${Buffer.byteLength(body)}`,
    "",
    body
  ].join("\r\n")

export const token = (): string => randomBytes(6).toString("hex")

export const tagOf = (header: string): string => /;\s*tag=([^;\s]+)/.exec(header)?.[1] ?? ""

/** Codec 0 is PCMU, 8 PCMA, 111 Opus; keys are 101. */
export const sdp = (port: number, direction = "sendrecv", codec = 0, version = 1, address = "127.0.0.1"): string =>
  [
    "v=0",
    `o=- 1 ${version} IN IP4 127.0.0.1`,
    "s=-",
    `c=IN IP4 ${address}`,
    "t=0 0",
    `m=audio ${port} RTP/AVP ${codec} 101`,
    ...(codec === 111 ? ["a=rtpmap:111 opus/48000/2"] : []),
    "a=rtpmap:101 telephone-event/8000",
    `a=${direction}`,
    ""
  ].join("\r\n")

/** Sound of the peer: a port that counts what comes, and may send. */
export class RtpPeer {
  readonly port: number
  readonly #socket
  packets = 0
  lastType = -1
  #sequence = 0

  private constructor(socket: ReturnType<typeof createSocket>) {
    this.#socket = socket
    this.port = socket.address().port
    socket.on("message", (bytes) => {
      this.packets++
      this.lastType = (bytes[1] ?? 0) & 0x7f
    })
  }

  static async open(address = "127.0.0.1"): Promise<RtpPeer> {
    const socket = createSocket("udp4")
    await new Promise<void>((done) => socket.bind(0, address, done))
    return new RtpPeer(socket)
  }

  send(to: number, payloadType = 0, payload = Buffer.alloc(160, 0xd5)): void {
    const head = Buffer.alloc(12)
    head[0] = 0x80
    head[1] = payloadType
    head.writeUInt16BE(++this.#sequence & 0xffff, 2)
    head.writeUInt32BE(this.#sequence * 160, 4)
    head.writeUInt32BE(77, 8)
    this.#socket.send(Buffer.concat([head, payload]), to, "127.0.0.1")
  }

  close(): void {
    this.#socket.close()
  }
}

export const rtpPortIn = (text: string): number => Number(/^m=audio (\d+)/m.exec(text)?.[1] ?? 0)
