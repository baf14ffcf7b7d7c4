// Many calls one after the other leave nothing behind. `npm run bench -- sip-churn` is the long form.
import { expect, it } from "vitest"
import { withServer, until } from "./SipTestServer.ts"
import { sdp, Talk } from "./SipPeer.ts"

const handles = (): Readonly<Record<string, number>> => {
  const kinds: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) {
    if (/UDP|TCP|Send/.test(kind)) kinds[kind] = (kinds[kind] ?? 0) + 1
  }
  return kinds
}

it(
  "300 calls come and go, and the handles are those of the beginning",
  withServer(
    async (server) => {
      const { peer, rtp } = await server.caller()
      const before = handles()
      for (let round = 0; round < 15; round++) {
        await Promise.all(
          Array.from({ length: 20 }, async () => {
            const talk = new Talk(peer, "+15550100")
            await talk.connect({ body: sdp(rtp.port) })
            await talk.bye()
          })
        )
      }
      await until(() => server.sip.count() === 0, "a call is left")
      await until(() => JSON.stringify(handles()) === JSON.stringify(before), "a handle is left")
      expect(server.taken.length).toBe(300)
    },
    { timings: { lingerMs: { unreliable: 100, reliable: 100 } } }
  )
)
