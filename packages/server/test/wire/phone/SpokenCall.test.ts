// A spoken conversation on the telephone, with a telephone that is not ours: baresip plays a caller's speech, the agent
// answers on the embedded engines. At 8 kHz the embedded recogniser is weak, so the caller is asked for little.
import { Resampler } from "@parley/audio/Resampler"
import { encodeWav } from "@parley/audio/Wav"
import { findPocketSphinx } from "@parley/speech/pocketsphinx/PocketSphinxInstallation"
import { speakToWav, withSilence } from "@parley/speech/testing/speakToWav"
import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type RunningService, startService } from "../../../src/testing/RunningService.ts"
import { freePort, importNumber, number } from "./PhonePeers.ts"

const isCi = process.env["CI"] === "true"
const noBaresip = spawnSync("baresip", ["-h"]).error !== undefined
const deaf = findPocketSphinx() === undefined
if (isCi && noBaresip) throw new Error("baresip is missing: install baresip-core")
if (isCi && deaf) throw new Error("PocketSphinx is missing: install libpocketsphinx3 and pocketsphinx-en-us")

const modules = ["/usr/lib/baresip/modules", "/usr/local/lib/baresip/modules"].find((folder) => existsSync(folder))

/** 8 kHz: silence in seconds, or something said. */
const speech = (...parts: ReadonlyArray<number | string>): Uint8Array => {
  const sounds = parts.map((part) => (typeof part === "number" ? new Int16Array(part * 16_000) : speakToWav(part)))
  const narrow = new Resampler(16_000, 8_000)
  return encodeWav(narrow.process(withSilence(sounds, 0)).slice(), 8_000)
}

interface Detail {
  readonly status: string
  readonly source: string
  readonly items: ReadonlyArray<{ readonly role: string; readonly content: string }>
}

describe.skipIf(noBaresip || deaf)(
  "a spoken telephone call (needs baresip and PocketSphinx)",
  { timeout: 120_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "parley-spoken-"))
    let service: RunningService
    let baresip: ChildProcess | undefined
    let sip = 0

    beforeAll(async () => {
      sip = await freePort()
      const own = await freePort()
      service = await startService({ PARLEY_SIP_PORT: String(sip), PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8" })
      const agent = await service.agent({
        prompt: {
          system_prompt: "You are a receptionist.",
          first_message_mode: "fixed",
          first_message: "Welcome to the clinic. How can I help you?"
        }
      })
      await importNumber(service, agent, own)
      writeFileSync(join(folder, "caller.wav"), speech(5, "I would like an appointment", 7, "on monday", 12))
      const config = [
        `module_path ${modules}`,
        ...["stdio", "g711", "aufile", "ausine", "sndfile"].map((name) => `module ${name}.so`),
        "module_tmp account.so",
        "module_app menu.so",
        `sip_listen 127.0.0.1:${own}`,
        "net_interface 127.0.0.1",
        `audio_source aufile,${join(folder, "caller.wav")}`,
        "audio_player aufile,unused",
        "audio_alert ausine,400",
        `snd_path ${folder}`
      ]
      writeFileSync(join(folder, "config"), `${config.join("\n")}\n`)
      writeFileSync(join(folder, "accounts"), `<sip:+14155550111@127.0.0.1:${own}>;regint=0;audio_codecs=PCMU\n`)
      writeFileSync(join(folder, "contacts"), "")
    }, 60_000)
    afterAll(async () => {
      if (baresip !== undefined && baresip.exitCode === null) {
        baresip.kill("SIGKILL")
        await once(baresip, "exit")
      }
      await service?.stop()
      rmSync(folder, { recursive: true, force: true })
    })

    it("is understood and answered, and sounds as it was meant at the other end", async () => {
      baresip = spawn("baresip", ["-f", folder], { cwd: folder, stdio: ["pipe", "ignore", "ignore"] })
      await new Promise((rest) => setTimeout(rest, 1_500))
      baresip.stdin?.write(`/dial sip:${number}@127.0.0.1:${sip}\n`)
      const latest = async (): Promise<Detail | undefined> => {
        const { sessions } = await service.api<{ sessions: ReadonlyArray<{ session_id: string }> }>(
          "GET",
          "/v1/agent/sessions"
        )
        const id = sessions[0]?.session_id
        return id === undefined ? undefined : service.api<Detail>("GET", `/v1/agent/sessions/${id}`)
      }
      const said = async (role: string) =>
        ((await latest())?.items ?? []).flatMap((item) => (item.role === role ? [item.content] : [])).join(" ")
      await expect.poll(() => said("user"), { timeout: 60_000, interval: 250 }).toMatch(/monday/i)
      await expect.poll(() => said("assistant"), { timeout: 30_000, interval: 250 }).toMatch(/Monday/)
      expect(await said("assistant")).toContain("Welcome to the clinic")
      baresip.stdin?.write("/hangup\n")
      await expect.poll(async () => (await latest())?.status, { timeout: 20_000 }).toBe("completed")
      expect((await latest())?.source).toBe("phone")
      baresip.stdin?.write("/quit\n")
      await once(baresip, "exit")

      const heard = readdirSync(folder).find((name) => name.endsWith("-dec.wav")) ?? ""
      const form = new FormData()
      form.append("audio", new Blob([readFileSync(join(folder, heard))]), "heard.wav")
      const headers = { authorization: `Bearer ${service.key}` }
      const response = await fetch(`${service.url}/v1/asr`, { method: "POST", headers, body: form })
      const { text } = (await response.json()) as { readonly text: string }
      expect(text.toLowerCase()).toMatch(/welcome|clinic/)
    })
  }
)
