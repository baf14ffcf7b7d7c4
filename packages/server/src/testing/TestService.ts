// The whole service as a layer, for tests in the same process: a folder and a database of its own, gone with it.
import type { OpenSipServer } from "@parley/app/phone/Telephone"
import { ownDatabase } from "@parley/workspace/testing/TestDatabase"
import { Effect, Layer, Logger } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Service from "../Service.ts"
import { testConfig } from "./testConfig.ts"

/** @param sipServer in place of one on the network; `PARLEY_SIP_PORT` must be set for either. */
export const serviceWith = (env: Readonly<Record<string, string>> = {}, sipServer?: OpenSipServer) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const data = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "parley-service-"))),
        (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
      )
      return Service.layer({ ...testConfig(data, env), databaseUrl: yield* ownDatabase }, sipServer)
    })
  ).pipe(Layer.provide(Logger.layer([])))
