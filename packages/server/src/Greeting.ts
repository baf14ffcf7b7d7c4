// What the person at the terminal reads when the service is ready: where it is and the key to use. The key is
// theirs to see; it is printed, never logged.
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { DataFolder } from "@parley/workspace/storage/Database"
import { Effect, Layer, Redacted } from "effect"
import { HttpServer } from "effect/http"
import type { AddressInfo } from "node:net"
import { Telephone } from "@parley/app/phone/Telephone"
import { HttpListener } from "./http/HttpListener.ts"
import { Settings } from "./Settings.ts"

export const layer: Layer.Layer<
  never,
  never,
  ApiKeys | DataFolder | HttpServer.HttpServer | HttpListener | Settings | Telephone
> = Layer.effectDiscard(
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const { path } = yield* DataFolder
    const settings = yield* Settings
    const { server } = yield* HttpListener
    yield* HttpServer.HttpServer
    const key = yield* keys.first(settings.apiKey, path)
    const { port } = server.address() as AddressInfo
    const host = ["0.0.0.0", "::", ""].includes(settings.host) ? "localhost" : settings.host
    const url = settings.publicUrl ?? `http://${host.includes(":") ? `[${host}]` : host}:${port}`
    const isGiven = settings.apiKey !== undefined
    const shown =
      key !== undefined
        ? isGiven
          ? "the one in PARLEY_API_KEY"
          : Redacted.value(key)
        : `${isGiven ? "the one in PARLEY_API_KEY was revoked or has expired; " : ""}make one with: npm run parley -- keys create`
    if (isGiven && key === undefined) {
      yield* Effect.logWarning("PARLEY_API_KEY holds a key that was revoked or has expired: it opens nothing")
    }
    const { udp } = (yield* Telephone).ports ?? {}
    const telephone = udp === undefined ? "" : `\n  SIP      sip:${host}:${udp}`
    process.stdout.write(`\nParley is ready.\n  Console  ${url}/${telephone}\n  API key  ${shown}\n\n`)
  })
)
