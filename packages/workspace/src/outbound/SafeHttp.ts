// The only way from the service to an address a customer wrote: tools, webhooks, model endpoints. The self-hoster's
// exceptions are `Platform.allowedPrivate`.
import { Context, Effect, Layer } from "effect"
import { Platform } from "../Platform.ts"
import { readAllowed } from "./AllowedPrivate.ts"
import { systemParts } from "./Dial.ts"
import { makeSafeClient, type SafeClient } from "./SafeClient.ts"

/** Requests to addresses that customers wrote. */
export class SafeHttp extends Context.Service<SafeHttp, SafeClient>()("@parley/workspace/SafeHttp") {
  static readonly layer: Layer.Layer<SafeHttp, never, Platform> = Layer.effect(
    SafeHttp,
    Effect.flatMap(Platform, ({ allowedPrivate }) => makeSafeClient(systemParts(readAllowed(allowedPrivate))))
  )
}
