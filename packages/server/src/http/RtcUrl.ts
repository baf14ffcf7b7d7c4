// Where callers find the media door: the setting, else the host they asked for, so that it works behind any name.
import { HttpServerRequest } from "effect/http"
import { Effect } from "effect"

export const rtcUrl = (
  publicUrl: string | undefined
): Effect.Effect<string, never, HttpServerRequest.HttpServerRequest> =>
  Effect.map(HttpServerRequest.HttpServerRequest, ({ headers }) => {
    if (publicUrl !== undefined) return publicUrl.replace(/^http/, "ws")
    const secure = headers["x-forwarded-proto"]?.split(",")[0]?.trim() === "https"
    const host = headers["host"] ?? ""
    return `${secure ? "wss" : "ws"}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : "localhost"}`
  })
