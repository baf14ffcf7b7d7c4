// Where callers find the service and its media door: the setting, else the host they asked for, so that it
// works behind any name.
import { HttpServerRequest } from "effect/http"
import { Effect } from "effect"

export const rtcUrl = (
  publicUrl: string | undefined
): Effect.Effect<string, never, HttpServerRequest.HttpServerRequest> =>
  Effect.map(httpUrl(publicUrl), (url) => url.replace(/^http/, "ws"))

/** Without a slash at its end. */
export const httpUrl = (
  publicUrl: string | undefined
): Effect.Effect<string, never, HttpServerRequest.HttpServerRequest> =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    if (publicUrl !== undefined) return publicUrl
    const secure = headers["x-forwarded-proto"]?.split(",")[0]?.trim() === "https"
    const host = headers["host"] ?? ""
    return `${secure ? "https" : "http"}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : "localhost"}`
  })
