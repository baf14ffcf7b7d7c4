// The service in a process of its own for benches of the management API: tells its parent where it listens, and what CPU it has
// used when it is asked.
import { NodeRuntime } from "@effect/platform-node"
import { HttpListener } from "@parley/server/http/HttpListener"
import * as Service from "@parley/server/Service"
import * as Telemetry from "@parley/server/telemetry/Telemetry"
import { testConfig } from "@parley/server/testing/testConfig"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { findPostgres } from "@parley/workspace/storage/EmbeddedPostgres"
import { firstWorkspace } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer, Logger, Redacted } from "effect"
import type { AddressInfo } from "node:net"

const data = process.argv[2] ?? ""
const config = testConfig(data, {
  PARLEY_TRIAL_BALANCE: "unlimited",
  PARLEY_LOG_LEVEL: "error",
  PARLEY_ALLOW_PRIVATE_NETWORKS: "127.0.0.0/8"
})

const main = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const made = yield* Effect.flatMap(ApiKeys, (keys) => keys.create(firstWorkspace))
  const databaseUrl = findPostgres(data)
  process.on("message", () => process.send?.({ cpu: process.cpuUsage() }))
  process.send?.({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key: Redacted.value(made.key),
    databaseUrl: databaseUrl === undefined ? "" : Redacted.value(databaseUrl)
  })
  yield* Effect.callback<void>((resume) => void process.once("disconnect", () => resume(Effect.void)))
})

NodeRuntime.runMain(
  main.pipe(
    Effect.provide(Service.layer(config).pipe(Layer.provide([Telemetry.layer({}), Logger.layer([])]), Layer.orDie)),
    Effect.scoped
  )
)
