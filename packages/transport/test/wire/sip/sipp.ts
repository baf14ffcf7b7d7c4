// sipp as the other side: a scenario in its own words, run once or many times; and a road that loses packets.
import { spawn, spawnSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

export const hasSipp = spawnSync("sipp", ["-v"]).error === undefined

export interface SippRun {
  readonly done: Promise<{ readonly code: number | null; readonly output: string }>
  readonly stop: () => void
}

/** @param target `host:port` of the server, or empty to wait to be called. */
export const sipp = (
  scenario: string,
  target: string,
  {
    calls = 1,
    port,
    service = "+15550100",
    way = "udp"
  }: {
    readonly calls?: number
    readonly port?: number
    readonly service?: string
    readonly way?: "udp" | "tcp"
  } = {}
): SippRun => {
  const folder = mkdtempSync(join(tmpdir(), "parley-sipp-"))
  const file = join(folder, "scenario.xml")
  writeFileSync(file, `<?xml version="1.0" encoding="UTF-8"?>\n<scenario name="s">\n${scenario}\n</scenario>\n`)
  const args = [
    "-sf",
    file,
    ...`-i 127.0.0.1 -mi 127.0.0.1 -nostdin -t ${way === "udp" ? "u1" : "t1"}`.split(" "),
    ...`-m ${calls} -r ${Math.max(10, calls)} -l ${calls} -s ${service}`.split(" "),
    ...`-timeout 40s -timeout_error -max_retrans 12 -trace_err -error_file ${join(folder, "err")}`.split(" "),
    ...(port === undefined ? [] : ["-p", String(port)]),
    ...(target === "" ? [] : [target])
  ]
  const child = spawn("sipp", args, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] })
  let output = ""
  child.stdout.on("data", (bytes) => (output = `${output}${String(bytes)}`.slice(-20_000)))
  child.stderr.on("data", (bytes) => (output = `${output}${String(bytes)}`.slice(-20_000)))
  const done = new Promise<{ code: number | null; output: string }>((resolve) =>
    child.once("exit", (code) => {
      rmSync(folder, { recursive: true, force: true })
      resolve({ code, output })
    })
  )
  return { done, stop: () => void child.kill("SIGKILL") }
}

const sdpLines = `
      v=0
      o=user1 53655765 2353687637 IN IP[local_ip_type] [local_ip]
      s=-
      c=IN IP[media_ip_type] [media_ip]
      t=0 0
      m=audio [media_port] RTP/AVP 0
      a=rtpmap:0 PCMU/8000`

export const sent = (
  method: string,
  {
    ack = false,
    cseq,
    extra = "",
    sdp = "",
    tagged = true,
    branch = "[branch]",
    transaction = ""
  }: {
    readonly ack?: boolean
    readonly cseq: number
    readonly extra?: string
    readonly sdp?: string
    readonly tagged?: boolean
    readonly branch?: string
    readonly transaction?: string
  }
): string => `
  <send${ack || method === "ACK" ? "" : ' retrans="500"'}${transaction === "" ? "" : ` start_txn="${transaction}"`}><![CDATA[
      ${method} sip:[service]@[remote_ip]:[remote_port] SIP/2.0
      Via: SIP/2.0/[transport] [local_ip]:[local_port];rport;branch=${branch}
      From: sipp <sip:+15550199@[local_ip]:[local_port]>;tag=[pid]SIPpTag00[call_number]
      To: <sip:[service]@[remote_ip]:[remote_port]>${tagged ? "[peer_tag_param]" : ""}
      Call-ID: [call_id]
      CSeq: ${cseq} ${method}
      Contact: <sip:sipp@[local_ip]:[local_port];transport=[transport]>
      Max-Forwards: 70${extra === "" ? "" : `\n      ${extra}`}
${sdp === "" ? "      Content-Length: 0\n" : `      Content-Type: application/sdp\n      Content-Length: [len]\n${sdp}`}
  ]]></send>`

export const inviteSdp = sdpLines

export const held = sdpLines.replace("RTP/AVP 0", "RTP/AVP 0\n      a=sendonly")

export const got = (status: number, optional = false): string =>
  `<recv response="${status}"${optional ? ' optional="true"' : ""}/>`

/** Of this transaction: else sipp takes any answer of the number, a repeated one of the INVITE too. */
export const gotOf = (transaction: string, status: number): string =>
  `<recv response="${status}" response_txn="${transaction}"/>`

export const pause = (ms: number): string => `<pause milliseconds="${ms}"/>`

export const replied = (
  status: string,
  { contact = "[local_ip]:[local_port]", sdp = "" }: { readonly contact?: string; readonly sdp?: string } = {}
): string => `
  <send${Number(status.slice(0, 3)) >= 200 ? ' retrans="500"' : ""}><![CDATA[
      SIP/2.0 ${status}
      [last_Via:]
      [last_From:]
      [last_To:];tag=[pid]SIPpTag01[call_number]
      [last_Call-ID:]
      [last_CSeq:]
      Contact: <sip:${contact};transport=[transport]>
${sdp === "" ? "      Content-Length: 0\n" : `      Content-Type: application/sdp\n      Content-Length: [len]\n${sdp}`}
  ]]></send>`

export const repliedInDialog = `
  <send><![CDATA[
      SIP/2.0 200 OK
      [last_Via:]
      [last_From:]
      [last_To:]
      [last_Call-ID:]
      [last_CSeq:]
      Content-Length: 0

  ]]></send>`

/** Loses a share of the datagrams each way, always the same ones for the same traffic. */
export const lossyRoad = async (to: () => number, share: number) => {
  let state = 1
  const drops = (): boolean => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32 < share
  }
  const [near, far] = [createSocket("udp4"), createSocket("udp4")]
  for (const socket of [near, far]) await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
  const counts = { dropped: 0, carried: 0 }
  let from = 0
  const carry = (socket: typeof near, bytes: Buffer, port: number): void => {
    if (port === 0) return
    if (drops()) counts.dropped++
    else {
      counts.carried++
      socket.send(bytes, port, "127.0.0.1")
    }
  }
  near.on("message", (bytes, { port }) => {
    from = port
    carry(far, bytes, to())
  })
  far.on("message", (bytes) => carry(near, bytes, from))
  return {
    counts,
    /** Where the one who speaks first speaks to. */
    nearPort: near.address().port,
    /** Where the other one sees it come from. */
    farPort: far.address().port,
    close: () => {
      near.close()
      far.close()
    }
  }
}
