// What must be rewritten in a client's SDP and candidates before werift 0.25 reads them (RFC 8829, 8843, 8445).
// Text in, text out, by line: parsing and writing the whole with `sdp-transform` would drop or reorder lines that werift
// reads. Each rule here stands for a call that was connected and mute.

/**
 * A client's offer, made safe:
 * - `a=inactive` becomes `a=recvonly`. With any inactive section werift takes an ICE restart for a
 *   renomination: new credentials, old generation, and nothing it sends arrives any more. Browsers offer
 *   the sections we refused as inactive. Answered as recvonly it is still inactive both ways.
 * - a bundled section on port 0 with `a=bundle-only` (Firefox) is alive, but port 0 reads as refused.
 */
export const repairOffer = (sdp: string): string => {
  const [session = "", ...sections] = sdp.split(/(?=^m=)/m)
  return session + sections.map(repairSection).join("")
}

const repairSection = (section: string): string => {
  const open = section.replace(/^a=inactive(\r?)$/m, "a=recvonly$1")
  if (!/^a=bundle-only\r?$/m.test(open)) return open
  return open.replace(/^(m=\S+) 0 /, "$1 9 ").replace(/^a=bundle-only\r?\n/m, "")
}

/** The first `a=ice-ufrag`: another one than before means an ICE restart. */
export const iceUfrag = (sdp: string): string | undefined => /^a=ice-ufrag:(\S+)/m.exec(sdp)?.[1]

/** An ICE candidate that werift can use (RFC 8445). */
export interface ClientCandidate {
  readonly candidate: string
  readonly sdpMid?: string
  readonly sdpMLineIndex?: number
  /** The ICE generation it belongs to, when it says so. */
  readonly ufrag?: string
}

/**
 * A trickled RTCIceCandidateInit (JSON text), or undefined when it must not reach werift: the empty
 * end-of-candidates line (werift then fails at once instead of waiting for peer-reflexive checks), `.local`
 * names (its mDNS lookup blocks for about 10 s; the checks arrive without it), and what is no candidate at all.
 */
export const readCandidate = (json: string): ClientCandidate | undefined => {
  let init: unknown
  try {
    init = JSON.parse(json)
  } catch {
    return undefined
  }
  if (typeof init !== "object" || init === null) return undefined
  const { candidate, sdpMLineIndex, sdpMid, usernameFragment } = init as Record<string, unknown>
  if (typeof candidate !== "string") return undefined
  const fields = candidate
    .replace(/^candidate:/, "")
    .trim()
    .split(/\s+/)
  const [, , transport, , address, port] = fields
  if (fields.length < 8 || transport === undefined || address === undefined) return undefined
  if (transport.toLowerCase() !== "udp" || address.toLowerCase().endsWith(".local")) return undefined
  if (!/^\d{1,5}$/.test(port ?? "") || Number(port) > 65_535) return undefined
  const named = fields.indexOf("ufrag")
  const ufrag = typeof usernameFragment === "string" ? usernameFragment : named > 0 ? fields[named + 1] : undefined
  return {
    candidate,
    ...(typeof sdpMid === "string" ? { sdpMid } : {}),
    ...(typeof sdpMLineIndex === "number" ? { sdpMLineIndex } : {}),
    ...(ufrag === undefined || ufrag === "" ? {} : { ufrag })
  }
}

/** The same rules for candidates written into the description itself. */
export const dropUnusableCandidates = (sdp: string): string =>
  sdp
    .split(/(?<=\n)/)
    .filter((line) => {
      if (line.startsWith("a=end-of-candidates")) return false
      if (!line.startsWith("a=candidate:")) return true
      return readCandidate(JSON.stringify({ candidate: line.slice(2).trim() })) !== undefined
    })
    .join("")

/** Behind NAT: each IPv4 host candidate is told a second time under the public address. */
export const advertise = (sdp: string, address: string): string =>
  sdp.replace(
    /^a=candidate:(\S+) (\d+) (udp) (\d+) (\d+\.\d+\.\d+\.\d+) (\d+) typ host(.*)\r?\n/gim,
    (
      line: string,
      foundation: string,
      component: string,
      udp: string,
      priority: string,
      host: string,
      port: string,
      rest: string
    ) =>
      host.startsWith("127.") || host === address
        ? line
        : `${line}a=candidate:${foundation}p ${component} ${udp} ${Number(priority) - 1} ${address} ${port} typ host${rest.trimEnd()}\r\n`
  )
