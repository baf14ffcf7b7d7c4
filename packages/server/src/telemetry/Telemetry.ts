// Traces, metrics and logs to an OTLP collector by the standard OTEL_* variables; nothing when no endpoint is set: then no
// spans are made at all. The framework's own server spans are off, because they hold paths and those hold ids; `EdgeSpan`
// makes ours.
import { ConfigProvider, Effect, Layer, References } from "effect"
import { FetchHttpClient, HttpMiddleware, UrlParams } from "effect/http"
import { Otlp, OtlpSerialization as Serialization } from "effect/observability"
import { version } from "../version.ts"

const endpoints = ["", "TRACES_", "METRICS_", "LOGS_"].map((signal) => `OTEL_EXPORTER_OTLP_${signal}ENDPOINT`)

/** `env`: of the process. The exporter fails silently when its endpoint cannot be reached; the service goes on. */
export const layer = (env: Readonly<Record<string, string | undefined>>): Layer.Layer<never> => {
  if (!endpoints.some((name) => env[name])) return Layer.succeed(References.TracerEnabled, false)
  const given = Object.fromEntries(Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])))
  const options = { resource: { serviceName: "parley", serviceVersion: version } }
  const exporter = Otlp.layerFromConfig(options).pipe(
    Layer.provide(
      env["OTEL_EXPORTER_OTLP_PROTOCOL"] === "http/json" ? Serialization.layerJson : Serialization.layerProtobuf
    ),
    Layer.provide(FetchHttpClient.layer),
    Layer.provide(ConfigProvider.layer(ConfigProvider.fromEnv({ env: { ...standard, ...given } })))
  )
  return Layer.effectDiscard(Effect.void).pipe(
    Layer.provideMerge(exporter),
    Layer.merge(Layer.succeed(UrlParams.CurrentRedactedNames, [/./])),
    Layer.merge(Layer.succeed(HttpMiddleware.TracerDisabledWhen, () => true))
  )
}

/** What the OpenTelemetry specification has as defaults. */
const standard = { OTEL_TRACES_EXPORTER: "otlp", OTEL_METRICS_EXPORTER: "otlp", OTEL_LOGS_EXPORTER: "otlp" }
