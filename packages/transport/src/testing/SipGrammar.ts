// Messages nobody should send: valid ones, and what a seeded chance makes of them. The same seed says the same.

/** Repeatable random choices. */
export interface Chance {
  /** 0 up to but not including this. */
  readonly below: (limit: number) => number
  readonly one: <A>(of: ReadonlyArray<A>) => A
  readonly happens: (share: number) => boolean
}

/** The same seed gives the same choices. */
export const chanceOf = (seed: number): Chance => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  return { below, one: (of) => of[below(of.length)] as (typeof of)[number], happens: (share) => next() < share }
}

const methods = [
  ..."INVITE ACK BYE CANCEL OPTIONS INFO UPDATE PRACK NOTIFY REFER REGISTER SUBSCRIBE MESSAGE PUBLISH DANCE".split(" "),
  "INVITE",
  "INVITE",
  "OPTIONS"
]

/** A session description, right or wrong. */
export const sdp = (chance: Chance): string =>
  [
    "v=0",
    "o=- 1 1 IN IP4 192.0.2.1",
    "s=-",
    "c=IN IP4 192.0.2.1",
    "t=0 0",
    `m=audio ${1024 + chance.below(60_000)} RTP/AVP ${chance.one(["0 101", "8", "111 0", "3", "0 8 13 101"])}`,
    "a=rtpmap:101 telephone-event/8000",
    "a=rtpmap:111 opus/48000/2",
    `a=${chance.one(["sendrecv", "sendonly", "recvonly", "inactive"])}`,
    ""
  ].join("\r\n")

/** What a request is made of. */
export interface Spoken {
  readonly method: string
  readonly callId: string
  readonly branch: string
  readonly cseq: number
  readonly fromTag: string
  readonly toTag: string
  readonly extra?: ReadonlyArray<string>
  readonly body?: string
  readonly type?: string
  /** Lines about the body, instead of its type. */
  readonly entity?: ReadonlyArray<string>
}

/** A request as text. */
export const request = (spoken: Spoken): string =>
  [
    `${spoken.method} sip:+15550100@192.0.2.10 SIP/2.0`,
    `Via: SIP/2.0/UDP 192.0.2.1:5060;rport;branch=${spoken.branch}`,
    `From: "Fuzz" <sip:+15550199@192.0.2.1>;tag=${spoken.fromTag}`,
    `To: <sip:+15550100@192.0.2.10>${spoken.toTag === "" ? "" : `;tag=${spoken.toTag}`}`,
    `Call-ID: ${spoken.callId}`,
    `CSeq: ${spoken.cseq} ${spoken.method}`,
    "Contact: <sip:fuzz@192.0.2.1:5060>",
    "Max-Forwards: 70",
    ...(spoken.extra ?? []),
    ...(spoken.body === undefined ? [] : (spoken.entity ?? [`Content-Type: ${spoken.type ?? "application/sdp"}`])),
    `Content-Length: ${Buffer.byteLength(spoken.body ?? "")}`,
    "",
    spoken.body ?? ""
  ].join("\r\n")

/** A request outside of any call. */
export const stray = (chance: Chance, name: string): string => {
  const method = chance.one(methods)
  return request({
    method,
    callId: `${name}@fuzz`,
    branch: `z9hG4bK${name}`,
    cseq: 1 + chance.below(1000),
    fromTag: name,
    toTag: chance.happens(0.1) ? "there" : "",
    extra: extras(chance),
    ...(method === "INVITE" || chance.happens(0.1) ? { body: sdp(chance) } : {})
  })
}

/** Headers that may be there, right or wrong. */
export const extras = (chance: Chance): ReadonlyArray<string> =>
  odd.filter(() => chance.happens(0.04)).map((make) => make(chance))

const odd: ReadonlyArray<(chance: Chance) => string> = [
  () => "Require: 100rel",
  () => "Require: nobody",
  () => "Supported: timer, 100rel",
  (chance) => `Session-Expires: ${chance.one(["90", "30", "1800;refresher=uas", "x", "99999999999"])}`,
  () => "Record-Route: <sip:192.0.2.9;lr>, <sip:192.0.2.8:70000>",
  () => "Route: <sip:192.0.2.9",
  () => 'Authorization: Digest username="a", realm="parley", nonce="x", response="y", uri="',
  () => "P-Asserted-Identity: tel:%",
  () => "RAck: 1 1 INVITE",
  () => "RSeq: 99999999999999999999",
  () => "Refer-To: <sip:x@y?Replaces=%00>",
  () => "Event: refer;id=\u0000",
  () => "Privacy: id;;;header",
  (chance) => `X-${"y".repeat(chance.below(300))}: ${"z".repeat(chance.below(3000))}`,
  () => "Content-Encoding: gzip",
  () => "Identity: \ud800"
]

const bits = [
  '"',
  "<",
  ">",
  ";",
  ",",
  ":",
  "@",
  "=",
  "\\",
  "%",
  "%zz",
  "\u0000",
  "\u00e4",
  "\u{1f600}",
  "\ud800",
  " ",
  "\t",
  "\r\n",
  "\n",
  "\r\n ",
  "\r\n\r\n",
  "sip:",
  "tel:",
  "[::1",
  "-1",
  "99999999999999999999",
  ";tag=",
  ";branch="
]

const changes: ReadonlyArray<(text: string, chance: Chance) => string> = [
  // A bit somewhere, something else instead, something away.
  (text, chance) => splice(text, chance.below(text.length + 1), 0, chance.one(bits)),
  (text, chance) => splice(text, chance.below(text.length + 1), 1, chance.one(bits)),
  (text, chance) => splice(text, chance.below(text.length + 1), 1 + chance.below(30), ""),
  (text, chance) => splice(text, chance.below(text.length + 1), 1, String.fromCharCode(chance.below(0x300))),
  // Cut off.
  (text, chance) => text.slice(0, chance.below(text.length + 1)),
  // A line twice, gone, elsewhere, shouted, in short, with a gap before its colon.
  (text, chance) => onLines(text, chance, (all, at) => all.splice(at, 0, all[at] ?? "")),
  (text, chance) => onLines(text, chance, (all, at) => all.splice(at, 1)),
  (text, chance) => onLines(text, chance, (all, at) => all.splice(chance.below(all.length), 0, ...all.splice(at, 1))),
  (text, chance) => onLines(text, chance, (all, at) => (all[at] = (all[at] ?? "").toUpperCase())),
  (text) =>
    text
      .replace(/^Via:/m, "v:")
      .replace(/^From:/m, "f:")
      .replace(/^To:/m, "t:")
      .replace(/^Call-ID:/m, "i:"),
  (text, chance) => onLines(text, chance, (all, at) => (all[at] = (all[at] ?? "").replace(":", " \t: "))),
  // A value of another kind, or none.
  (text, chance) =>
    onLines(text, chance, (all, at) => (all[at] = (all[at] ?? "").replace(/:.*$/, `: ${chance.one(bits)}`))),
  (text, chance) =>
    onLines(text, chance, (all, at) => (all[at] = `${all[at] ?? ""}${chance.one(bits).repeat(1 + chance.below(200))}`)),
  // Folded wherever a space is.
  (text, chance) => text.replace(/ /g, (space) => (chance.happens(0.2) ? "\r\n  " : space)),
  // Lengths that lie.
  (text, chance) =>
    text.replace(
      /Content-Length: \d+/,
      `Content-Length: ${chance.one(["-1", "0", "1", "99999", "x", "00000000007", "1\r\nContent-Length: 2"])}`
    ),
  // Numbers beyond bounds.
  (text, chance) =>
    text.replace(/\d+/g, (digits) =>
      chance.happens(0.1) ? chance.one(["0", "4294967296", "1e9", "-7", "٣"]) : digits
    ),
  // Other ends of lines.
  (text) => text.replaceAll("\r\n", "\n"),
  // Another first line.
  (text, chance) =>
    text.replace(
      /^[^\r\n]*/,
      chance.one([
        "SIP/2.0 200 OK",
        "SIP/2.0 999 ",
        "SIP/2.0 -1 x",
        "INVITE sip: SIP/2.0",
        "INVITE sip:@ SIP/2.0",
        "INVITE sip:a@b;;;= SIP/2.0",
        "INVITE tel: SIP/2.0",
        "INVITE sips:[ SIP/2.0",
        "INVITE sip:%@%25 SIP/2.0",
        " ",
        "GET / HTTP/1.1",
        "INVITE sip:a@b SIP/2.1"
      ])
    ),
  // A body of junk.
  (text, chance) =>
    text.replace(
      /\r\n\r\n[^]*$/,
      `\r\n\r\n${"m=audio \u0000 RTP/AVP 0\r\na=crypto:1 x inline:\r\n".repeat(chance.below(40))}`
    ),
  // The same once more.
  (text, chance) => text + text.slice(chance.below(text.length + 1))
]

/** One to four of them. */
export const mutated = (text: string, chance: Chance): string => {
  let out = text
  for (let left = 1 + chance.below(4); left > 0; left--)
    out = chance
      .one(changes)(out, chance)
      .slice(0, chance.happens(0.01) ? 60_000 : 8_000)
  return out
}

/** Mostly the message as it is. */
export const perhapsMutated = (text: string, chance: Chance): string =>
  chance.happens(0.3) ? mutated(text, chance) : text

const splice = (text: string, at: number, away: number, instead: string): string =>
  text.slice(0, at) + instead + text.slice(at + away)

const onLines = (text: string, chance: Chance, change: (all: Array<string>, at: number) => unknown): string => {
  const all = text.split("\r\n")
  change(all, chance.below(all.length))
  return all.join("\r\n")
}
