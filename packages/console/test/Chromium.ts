// A headless Chromium whose microphone plays one file, from its beginning, when the page opens it. Sound
// plays after a click only, as it does for people. Found where the system has it.
import { encodeWav } from "@parley/audio/Wav"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type BrowserContextOptions, chromium, type Page } from "playwright-core"

const places = [process.env["CHROMIUM"] ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser"]
export const chromiumPath = places.find((path) => path !== "" && existsSync(path))

export interface Chromium {
  /** A page of its own profile. */
  readonly open: (url: string, options?: BrowserContextOptions) => Promise<Page>
  readonly close: () => Promise<void>
}

/** 16 kHz mono; `refused` is a person who says no to the microphone. */
export const startChromium = async (microphone: Int16Array | "refused"): Promise<Chromium> => {
  if (chromiumPath === undefined) throw new Error("no Chromium here: apt-get install chromium")
  const folder = await mkdtemp(join(tmpdir(), "parley-console-"))
  const file = join(folder, "microphone.wav")
  await writeFile(file, encodeWav(microphone === "refused" ? new Int16Array(16_000) : microphone, 16_000))
  const browser = await chromium.launch({
    executablePath: chromiumPath,
    args: [
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--use-fake-device-for-media-stream",
      `--use-file-for-fake-audio-capture=${file}%noloop`,
      microphone === "refused" ? "--deny-permission-prompts" : "--use-fake-ui-for-media-stream"
    ]
  })
  return {
    open: async (url, options = {}) => {
      const page = await (await browser.newContext(options)).newPage()
      await page.goto(url)
      return page
    },
    close: async () => {
      await browser.close()
      await rm(folder, { recursive: true, force: true })
    }
  }
}
