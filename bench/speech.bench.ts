// How soon and how fast the service speaks, asked over HTTP and over the live socket by clients in another process;
// the engine is Flite. Compared with the bare engine in this process, asked for the same text. The service runs in
// this process, so that its event loop and its memory can be watched.
import { NodeRuntime } from "@effect/platform-node"
import { HttpListener } from "@parley/server/http/HttpListener"
import * as Service from "@parley/server/Service"
import { testConfig } from "@parley/server/testing/testConfig"
import { makeFliteSynthesizer } from "@parley/speech/flite/FliteSynthesizer"
import { ApiKeys } from "@parley/workspace/identity/ApiKeys"
import { firstWorkspace } from "@parley/workspace/identity/Workspaces"
import { Effect, Layer, Logger, Redacted, Stream } from "effect"
import { fork } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { percentile, report } from "./report.ts"
import type { Question, Row } from "./speechClient.ts"

const text =
  "The weather service expects light rain in the morning, followed by sunshine in the afternoon, with temperatures " +
  "around twenty degrees, and a gentle wind from the west that will calm down before the night."
const data = mkdtempSync(join(tmpdir(), "parley-bench-"))
const config = testConfig(data, {
  PARLEY_TRIAL_BALANCE: "unlimited",
  PARLEY_LOG_LEVEL: "error"
})

/** Milliseconds of computing and of sound, sentence by sentence, one after the other. */
const bare = Effect.gen(function* () {
  const flite = yield* makeFliteSynthesizer({ threads: 1 })
  const factors: Array<number> = []
  for (let n = 0; n < 20; n++) {
    const request = { text: `${text} ${n}.`, voice: "", speed: 1, language: "en", urgent: false, words: false }
    const began = performance.now()
    let seconds = 0
    yield* Stream.runForEach(flite.synthesize(request), (chunk) =>
      Effect.sync(() => {
        if (chunk._tag === "Audio") seconds += chunk.samples.length / chunk.sampleRate
      })
    )
    if (n > 2) factors.push((performance.now() - began) / 1000 / seconds)
  }
  return factors
}).pipe(Effect.scoped)

const main = Effect.gen(function* () {
  const { server } = yield* HttpListener
  const made = yield* Effect.flatMap(ApiKeys, (keys) => keys.create(firstWorkspace))
  const key = Redacted.value(made.key)
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clients = yield* Effect.acquireRelease(
    Effect.sync(() => fork(join(import.meta.dirname, "speechClient.ts"))),
    (child) => Effect.sync(() => child.kill())
  )
  const ask = (question: Partial<Question>) =>
    Effect.promise<ReadonlyArray<Row>>(
      () =>
        new Promise((resolve) => {
          clients.once("message", (rows) => resolve(rows as ReadonlyArray<Row>))
          clients.send({ kind: "http", url, key, text, format: "mp3", count: 40, at_once: 1, ...question })
        })
    )
  yield* ask({ count: 5 })
  yield* ask({ count: 5, kind: "live" })

  const factors = yield* bare
  const alone = yield* ask({})
  const pcm = yield* ask({ format: "pcm" })
  const live = yield* ask({ kind: "live" })
  yield* ask({ count: 32, at_once: 16 })
  const stalls = watchLoop()
  const together = yield* ask({ count: 96, at_once: 16 })
  const { longestMs, ownMs } = stalls()

  globalThis.gc?.()
  const before = process.memoryUsage.rss()
  yield* ask({ kind: "slow", count: 40, format: "wav" })
  yield* Effect.sleep(2000)
  const perStream = (process.memoryUsage.rss() - before) / 40 / 1024
  yield* ask({ count: 1 })

  const whole = pcm.map(({ bytes, totalMs }) => totalMs / 1000 / (bytes / bytesPerSecond))
  const ratio = percentile(whole, 50) / percentile(factors, 50)
  report(
    "speech",
    [
      {
        what: "first audio byte of /v1/tts, 200 characters, mp3",
        unit: "ms",
        values: first(alone),
        target: "p50 <= 120"
      },
      { what: "first audio on the live socket after flush", unit: "ms", values: first(live), target: "p50 <= 120" },
      { what: "the same with 16 at once: first audio byte", unit: "ms", values: first(together) },
      { what: "whole request, mp3", unit: "ms", values: alone.map(({ totalMs }) => totalMs) },
      { what: "real-time factor of the endpoint, pcm, x 1000", unit: "", values: whole.map((one) => one * 1000) },
      { what: "real-time factor of the bare engine, x 1000", unit: "", values: factors.map((one) => one * 1000) },
      { what: "longest event-loop stall with 16 at once", unit: "ms", values: [longestMs], target: "<= 30" },
      { what: "longest stretch of the event loop's own work in it", unit: "ms", values: [ownMs] },
      { what: "memory of the process per open stream (40 slow readers)", unit: "KiB", values: [perStream] }
    ],
    [{ alone, pcm, live, together, factors, stallMs: longestMs, ownMs, perStreamKib: perStream }]
  )
  console.log(`endpoint to bare engine: ${ratio.toFixed(2)} x   target: <= 1.3 x`)
}).pipe(Effect.scoped)

/** A timer each millisecond: how late the latest was, and how much of such a gap this thread was really at work. */
const watchLoop = () => {
  let last = performance.now()
  let cpu = process.threadCpuUsage()
  let longestMs = 0
  let ownMs = 0
  const timer = setInterval(() => {
    const now = performance.now()
    const used = process.threadCpuUsage(cpu)
    longestMs = Math.max(longestMs, now - last)
    ownMs = Math.max(ownMs, (used.user + used.system) / 1000)
    last = now
    cpu = process.threadCpuUsage()
  }, 1)
  return () => {
    clearInterval(timer)
    return { longestMs, ownMs }
  }
}

const first = (rows: ReadonlyArray<Row>) => rows.map(({ firstMs }) => firstMs)

/** 44.1 kHz, 16 bit. */
const bytesPerSecond = 88_200

NodeRuntime.runMain(
  main.pipe(
    Effect.provide(Service.layer(config).pipe(Layer.provide(Logger.layer([])))),
    Effect.ensuring(Effect.sync(() => rmSync(data, { recursive: true, force: true })))
  )
)
