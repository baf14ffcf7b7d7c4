// baresip as the other side: a telephone of flesh and blood, told what to do over its control port.
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { createSocket } from "node:dgram"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect, createServer, type Socket } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as rest } from "node:timers/promises"

export const hasBaresip = spawnSync("baresip", ["-h"]).error === undefined

const moduleFolder = (): string =>
  ["/usr/lib/baresip/modules", "/usr/lib64/baresip/modules", "/usr/local/lib/baresip/modules"].find(
    (folder) => spawnSync("test", ["-f", join(folder, "g711.so")]).status === 0
  ) ?? "/usr/lib/baresip/modules"

export interface BaresipOptions {
  readonly transport: "udp" | "tcp" | "tls"
  /** As baresip names it: `PCMU/8000/1`, `PCMA/8000/1`, `opus/48000/2`. */
  readonly codec: string
  readonly secure?: boolean
  readonly authUser?: string
  readonly authPassword?: string
  /** PEM of certificate and key in one file, for TLS. */
  readonly certificate?: string
}

interface Event {
  readonly type?: string
  readonly param?: string
}

export class Baresip {
  readonly #child: ChildProcess
  readonly #folder: string
  readonly #control: Socket
  readonly events: Array<Event> = []
  output = ""
  readonly port: number

  private constructor(child: ChildProcess, folder: string, control: Socket, port: number) {
    this.#child = child
    this.#folder = folder
    this.#control = control
    this.port = port
    let held = ""
    control.on("error", () => undefined)
    control.on("data", (bytes) => {
      held += bytes.toString()
      // Netstrings: `length:json,`.
      for (;;) {
        const [, digits = ""] = /^(\d+):/.exec(held) ?? []
        const end = digits.length + 1 + Number(digits)
        if (digits === "" || held.length <= end) return
        this.events.push(JSON.parse(held.slice(digits.length + 1, end)) as Event)
        held = held.slice(end + 1)
      }
    })
  }

  static async start(options: BaresipOptions): Promise<Baresip> {
    const folder = mkdtempSync(join(tmpdir(), "parley-baresip-"))
    const [sipPort, controlPort] = [await freePort(), await freeTcpPort()]
    const listen = options.transport === "tls" ? sipPort - 1 : sipPort
    const modules = ["g711", "opus", "ausine", "aubridge", "srtp", "account", "menu", "ctrl_tcp", "uuid"]
    const config = [
      `sip_listen 127.0.0.1:${listen}`,
      ...(options.certificate === undefined ? [] : [`sip_certificate ${join(folder, "cert.pem")}`]),
      "audio_path /usr/share/baresip",
      "audio_player aubridge,nowhere",
      "audio_source ausine,440",
      "audio_alert aubridge,nowhere",
      // Its sine has this form alone; it is resampled for the codec.
      "ausrc_srate 48000",
      "ausrc_channels 2",
      "rtp_ports 20000-40000",
      `module_path ${moduleFolder()}`,
      ...modules.map((name) => `module ${name}.so`),
      `ctrl_tcp_listen 127.0.0.1:${controlPort}`,
      "ausine_frequency 440",
      "opus_bitrate 28000"
    ]
    const account = [
      `<sip:+15550199@127.0.0.1;transport=${options.transport}>;regint=0`,
      `audio_codecs=${options.codec}`,
      ...(options.secure === true ? ["mediaenc=srtp-mand"] : []),
      ...(options.authUser === undefined ? [] : [`auth_user=${options.authUser}`, `auth_pass=${options.authPassword}`]),
      "answermode=auto"
    ].join(";")
    writeFileSync(join(folder, "config"), `${config.join("\n")}\n`)
    writeFileSync(join(folder, "accounts"), `${account}\n`)
    writeFileSync(join(folder, "contacts"), "")
    writeFileSync(join(folder, "uuid"), "00000000-0000-4000-8000-000000000000\n")
    if (options.certificate !== undefined) writeFileSync(join(folder, "cert.pem"), options.certificate)
    const child = spawn("baresip", ["-f", folder, "-v"], { stdio: ["ignore", "pipe", "pipe"] })
    let output = ""
    let self: Baresip | undefined
    const keep = (bytes: Buffer): void => {
      output = `${output}${bytes.toString()}`.slice(-20_000)
      if (self !== undefined) self.output = output
    }
    child.stdout?.on("data", keep)
    child.stderr?.on("data", keep)
    for (let tries = 0; tries < 200; tries++) {
      const control = await open(controlPort)
      if (control !== undefined) {
        self = new Baresip(child, folder, control, sipPort)
        self.output = output
        return self
      }
      if (child.exitCode !== null) break
      await rest(50)
    }
    child.kill("SIGKILL")
    rmSync(folder, { recursive: true, force: true })
    throw new Error(`baresip does not start:\n${output}`)
  }

  tell(command: string, params = ""): void {
    const text = JSON.stringify({ command, params, token: "t" })
    this.#control.write(`${text.length}:${text},`)
  }

  async until(type: string, withinMs = 10_000): Promise<Event> {
    const limit = performance.now() + withinMs
    for (;;) {
      const found = this.events.find((event) => event.type === type)
      if (found !== undefined) return found
      if (performance.now() > limit) throw new Error(`no ${type}: ${JSON.stringify(this.events)}\n${this.output}`)
      await rest(20)
    }
  }

  async stop(): Promise<void> {
    const gone = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()))
    this.#control.destroy()
    if (this.#child.exitCode === null) {
      this.#child.kill("SIGKILL")
      await gone
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

const open = (port: number): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    socket.once("connect", () => resolve(socket))
    socket.once("error", () => resolve(undefined))
  })

const freePort = async (): Promise<number> => {
  const socket = createSocket("udp4")
  await new Promise<void>((done) => socket.bind(0, "127.0.0.1", done))
  const { port } = socket.address()
  await new Promise<void>((done) => socket.close(() => done()))
  return port
}

const freeTcpPort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const address = server.address()
  await new Promise<void>((done) => server.close(() => done()))
  return typeof address === "object" && address !== null ? address.port : 0
}
