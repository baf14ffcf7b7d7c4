// A headless Chromium whose microphone is a file with a tone. Found where the system has it; without it the
// tests that need it are skipped by name, and fail under CI=true.
import { build } from "esbuild"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { chromium, type Browser, type Page } from "playwright-core"
import { makeTone } from "./tone.ts"

export const micHz = 440

const places = [
  process.env["CHROMIUM"] ?? "",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome"
]
export const chromiumPath = places.find((path) => path !== "" && existsSync(path))
export const skipBrowser = chromiumPath === undefined && process.env["CI"] !== "true"

export interface TestBrowser {
  /** A page of its own profile, with the script loaded. */
  readonly open: (origin: string) => Promise<Page>
  readonly close: () => Promise<void>
}

export const startBrowser = async (): Promise<TestBrowser> => {
  if (chromiumPath === undefined) throw new Error("no Chromium here: apt-get install chromium")
  const folder = await mkdtemp(join(tmpdir(), "parley-wire-"))
  const microphone = join(folder, "microphone.wav")
  await writeFile(microphone, wav(makeTone(48_000, micHz, 0.5)(480_000)))
  const browser: Browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      "--use-fake-ui-for-media-stream",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${microphone}`,
      "--autoplay-policy=no-user-gesture-required"
    ]
  })
  return {
    open: async (origin) => {
      const context = await browser.newContext({ permissions: ["microphone"] })
      const page = await context.newPage()
      await page.goto(origin)
      return page
    },
    close: async () => {
      await browser.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
}

export const bundle = async (entry: string): Promise<string> => {
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    format: "iife",
    platform: "browser",
    write: false,
    logLevel: "error"
  })
  return outputFiles[0]?.text ?? ""
}

const wav = (samples: Int16Array): Buffer => {
  const data = Buffer.from(samples.buffer, samples.byteOffset, samples.byteLength)
  const head = Buffer.alloc(44)
  head.write("RIFF", 0)
  head.writeUInt32LE(36 + data.length, 4)
  head.write("WAVEfmt ", 8)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(48_000, 24)
  head.writeUInt32LE(96_000, 28)
  head.writeUInt16LE(2, 32)
  head.writeUInt16LE(16, 34)
  head.write("data", 36)
  head.writeUInt32LE(data.length, 40)
  return Buffer.concat([head, data])
}
