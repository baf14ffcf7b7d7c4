// Where callers find the service and its media signalling: the setting PARLEY_PUBLIC_URL, else the host of the request, so
// that it works behind any name.
import { HttpServerRequest } from "effect/http"
import { Effect } from "effect"

/** The address of media signalling, ws: or wss:, without a slash at its end. */
export const rtcUrl = (
  publicUrl: string | undefined
): Effect.Effect<string, never, HttpServerRequest.HttpServerRequest> =>
  Effect.map(httpUrl(publicUrl), (url) => url.replace(/^http/, "ws"))

/** The address of the service, http: or https:, without a slash at its end. */
export const httpUrl = (
  publicUrl: string | undefined
): Effect.Effect<string, never, HttpServerRequest.HttpServerRequest> =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    if (publicUrl !== undefined) return publicUrl
    const secure = headers["x-forwarded-proto"]?.split(",")[0]?.trim() === "https"
    const host = headers["host"] ?? ""
    return `${secure ? "https" : "http"}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : "localhost"}`
  })
