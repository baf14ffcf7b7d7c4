// Headers with a customer's credentials, between a request and the record: sealed, and never given back. A value that
// is sent as null stays as it is stored under that name and kind.
import type { HeaderKind, ToolPatch } from "@parley/contract/Tool"
import { fault, type Fault } from "@parley/contract/Fault"
import { Redacted } from "effect"
import type { Secrets } from "../storage/Secrets.ts"

/** A header as it is stored. */
export interface SealedHeader {
  readonly name: string
  readonly kind: HeaderKind
  /** Empty when there is none. */
  readonly value: string
}

type SentHeaders = NonNullable<ToolPatch["headers"]>

/** The headers as they are to be stored, in the order they were sent. */
export const sealHeaders = (
  secrets: Secrets["Service"],
  sent: SentHeaders,
  stored: ReadonlyArray<SealedHeader> = []
): ReadonlyArray<SealedHeader> =>
  sent.map(({ kind = "custom", name: given, value }) => {
    const name = kind === "custom" ? (given ?? "") : "Authorization"
    const previous = stored.find((one) => one.kind === kind && one.name.toLowerCase() === name.toLowerCase())
    return {
      name,
      kind,
      value: value == null ? (previous?.value ?? "") : secrets.seal(value, previous?.value ?? null)
    }
  })

/** What `sealHeaders` found nothing for. */
export const missingParts = (sent: SentHeaders, sealed: ReadonlyArray<SealedHeader>): ReadonlyArray<Fault> =>
  sent.flatMap((header, index) => [
    ...((header.kind ?? "custom") === "custom" && header.name === undefined
      ? [fault(["body", "headers", index, "name"], "field required", "missing")]
      : []),
    ...(header.value == null && !sealed[index]?.value
      ? [fault(["body", "headers", index, "value"], "field required", "missing")]
      : [])
  ])

/** In the clear, for validating them. */
export const openHeaders = (secrets: Secrets["Service"], sealed: ReadonlyArray<SealedHeader>) =>
  sealed.map((header) => ({
    ...header,
    value: header.value === "" ? "" : Redacted.value(secrets.open(header.value))
  }))
