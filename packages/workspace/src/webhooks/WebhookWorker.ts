// Sends what lies in the outbox: looks when something was put and twice a second besides, many endpoints at once, each
// attempt bounded. What a customer's endpoint does never stops the others.
import { headerPrefix } from "@parley/contract/Vendor"
import { Clock, Effect, FiberSet, Layer, Redacted } from "effect"
import { SafeHttp } from "../outbound/SafeHttp.ts"
import { Secrets } from "../storage/Secrets.ts"
import { type Attempt, type ClaimedDelivery, Deliveries } from "./Deliveries.ts"
import { Outbox } from "./Outbox.ts"
import { signatureOf } from "./WebhookSignature.ts"

export interface CourierOptions {
  /** In the header names. */
  readonly vendor: string
  readonly userAgent: string
}

const attemptMs = 10_000
const atOnce = 32
const lookMs = 500
/** Kept of an answer. */
const responseBytes = 4096

export const layer = (options: CourierOptions): Layer.Layer<never, never, Deliveries | Outbox | SafeHttp | Secrets> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const deliveries = yield* Deliveries
      const { wakeUp } = yield* Outbox
      const http = yield* SafeHttp
      const secrets = yield* Secrets
      const attempts = yield* FiberSet.make<void>()

      const attempt = Effect.fnUntraced(function* (delivery: ClaimedDelivery) {
        const began = yield* Clock.currentTimeMillis
        const answer = yield* http
          .request({
            method: "POST",
            url: delivery.url,
            headers: headersOf(delivery, options, secrets, began),
            body: delivery.body,
            timeoutMs: attemptMs,
            maxBytes: responseBytes
          })
          .pipe(Effect.result)
        const latencyMs = (yield* Clock.currentTimeMillis) - began
        const came: Attempt =
          answer._tag === "Success"
            ? {
                ...moment(began, latencyMs),
                statusCode: answer.success.status,
                response: textOf(answer.success.body),
                error: undefined
              }
            : { ...moment(began, latencyMs), statusCode: undefined, response: undefined, error: answer.failure.message }
        yield* deliveries.settle(delivery, came)
        // The next event of this session may go now.
        yield* wakeUp.open
      })

      const look = Effect.gen(function* () {
        const room = atOnce - (yield* FiberSet.size(attempts))
        if (room <= 0) return
        for (const delivery of yield* deliveries.claim(room)) {
          yield* FiberSet.run(
            attempts,
            Effect.catchCause(attempt(delivery), () => Effect.logWarning("A webhook attempt failed"))
          )
        }
      })

      yield* Effect.forever(
        Effect.gen(function* () {
          wakeUp.closeUnsafe()
          yield* Effect.catchCause(look, () =>
            Effect.logWarning("The outbox could not be read and will be tried again")
          )
          yield* Effect.timeoutOption(wakeUp.await, lookMs)
        })
      ).pipe(Effect.forkScoped)
    })
  )

const moment = (sentMs: number, latencyMs: number) => ({ sentAt: new Date(sentMs), latencyMs })

/** Of everything that is told to an endpoint. */
export const headersOf = (
  { body, id, secret }: Pick<ClaimedDelivery, "body" | "id" | "secret">,
  { userAgent, vendor }: CourierOptions,
  secrets: Pick<Secrets["Service"], "open">,
  nowMs: number
): ReadonlyArray<readonly [string, string]> => {
  const prefix = `${headerPrefix(vendor)}Webhook`
  return [
    ["Content-Type", "application/json"],
    ["User-Agent", userAgent],
    [`${prefix}-Id`, id],
    ...(secret === null
      ? []
      : [[`${prefix}-Signature`, signatureOf(Redacted.value(secrets.open(secret)), body, nowMs)] as const])
  ]
}

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body).replaceAll("\0", "")
