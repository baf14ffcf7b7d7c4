// The headers of everything that is told to an endpoint: who sends, the id of the delivery, its signature.
import { headerPrefix } from "@parley/contract/Vendor"
import { Redacted } from "effect"
import type { OwnedSecrets } from "../storage/SecretBox.ts"
import { signatureOf } from "./WebhookSignature.ts"

/** As whom the service speaks to endpoints. */
export interface WebhookSender {
  /** In the header names. */
  readonly vendor: string
  readonly userAgent: string
}

/** @param secret sealed; null for an endpoint without one, which gets no signature */
export const headersOf = (
  { body, id, secret }: { readonly id: string; readonly secret: string | null; readonly body: string },
  { userAgent, vendor }: WebhookSender,
  secrets: Pick<OwnedSecrets, "open">,
  nowMs: number
): ReadonlyArray<readonly [name: string, value: string]> => {
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
