// The page of the tests in Chromium (page.js), as a test drives it.
import type { Page } from "playwright-core"
import { micHz } from "./Browser.ts"
import { agentHz, type HostCall } from "./Host.ts"
import { until } from "./tone.ts"

/** What page.js keeps, as far as it is looked at here. */
interface PageState {
  readonly reconnected: number
  readonly overlapped: number
  readonly disconnected: ReadonlyArray<number>
  readonly texts: ReadonlyArray<{ readonly text: string; readonly ended: boolean; readonly attributes: object }>
  readonly events: ReadonlyArray<unknown>
  readonly errors: ReadonlyArray<string>
}

/** A method of it. */
export const call = <A>(page: Page, method: string, ...args: ReadonlyArray<unknown>): Promise<A> =>
  page.evaluate(([name, rest]) => Reflect.get(Reflect.get(globalThis, "wire"), name)(...rest), [method, args] as const)

export const stateOf = (page: Page): Promise<PageState> => call(page, "state")

export const agentHears = async (hosted: HostCall): Promise<void> => {
  hosted.ears.clear()
  await until("the agent hears the microphone", () => hosted.ears.level(micHz) > 0.2, 15_000)
}

export const pageHears = async (page: Page): Promise<void> => {
  const before = await call<number>(page, "packetsReceived")
  await until("packets arrive", async () => (await call<number>(page, "packetsReceived")) > before + 25, 15_000)
  await until("the page hears the agent", async () => (await call<number>(page, "level", agentHz)) > 0.2)
}
