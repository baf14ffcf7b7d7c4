// The description of the API as a page at /docs. It runs its own scripts and no others, asks nobody but this service, and tells
// nobody that it was opened.
import { MainApi } from "@parley/contract/MainApi/MainApi"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"
import { HttpApiScalar } from "effect/http-api"
import { createHash } from "node:crypto"

// Its own fonts would come from a CDN.
const scalar = { withDefaultFonts: false, telemetry: false }

/** The page is the same each time: its scripts are hashed once. */
let policy: string | undefined

const withPolicy = HttpRouter.middleware((route) =>
  Effect.map(route, (response) => {
    const { body } = response
    if (body._tag !== "Uint8Array") return response
    policy ??= policyOf(new TextDecoder().decode(body.body))
    return HttpServerResponse.setHeaders(response, {
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer"
    })
  })
)

export const layer = HttpApiScalar.layer(MainApi, { path: "/docs", scalar }).pipe(Layer.provide(withPolicy.layer))

const policyOf = (html: string): string => {
  const scripts = [...html.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, code = ""]) => `'sha256-${hashOf(code)}'`)
  return [
    "default-src 'none'",
    `script-src ${scripts.join(" ")}`,
    "style-src 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src data:",
    "worker-src blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'"
  ].join("; ")
}

const hashOf = (code: string): string => createHash("sha256").update(code).digest("base64")
