// The built console at `/`: files with a fingerprint in their name are kept for a year, the rest is asked for again
// each time. Everything comes from this service; the page may open sockets and play what it was sent.
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse, HttpStaticServer } from "effect/http"
import { fileURLToPath } from "node:url"
import { existsSync } from "node:fs"

const consoleFolder = fileURLToPath(new URL("../../../console/dist", import.meta.url))

const policy = [
  "default-src 'self'",
  "connect-src 'self' ws: wss:",
  "media-src 'self' blob:",
  "worker-src 'self' blob:",
  "img-src 'self' data: blob:",
  "style-src 'self' 'unsafe-inline'",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

/** Serves the folder below `/`. Where it does not exist, `/` answers with a text that says how to build the console. */
export const layer = (folder: string = consoleFolder) =>
  Layer.unwrap(
    Effect.gen(function* () {
      if (!existsSync(folder)) return HttpRouter.add("GET", "/", HttpServerResponse.text(notBuilt, { status: 200 }))
      const files = yield* HttpStaticServer.make({ root: folder })
      return HttpRouter.add(
        "GET",
        "/*",
        Effect.gen(function* () {
          const request = yield* HttpServerRequest.HttpServerRequest
          const response = yield* files
          const lasting = /[-.][A-Za-z0-9_]{8,}\.(js|css|wasm|woff2|svg|png)$/.test(request.url.split("?", 1)[0] ?? "")
          return HttpServerResponse.setHeaders(response, {
            "cache-control": lasting ? "public, max-age=31536000, immutable" : "no-cache",
            "content-security-policy": policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer"
          })
        })
      )
    })
  )

const notBuilt = "The service runs. The console has not been built: stop the service and run npm start.\n"
