// Headers with a customer's credentials, between a request and the record: sealed, and never given back. A value that
// is sent as null stays as it is stored under that name and kind; it never follows its record to another origin, where
// whoever may edit an address could read it.
import type { HeaderKind, ToolPatch } from "@parley/contract/Tool"
import { fault, type Fault } from "@parley/contract/Fault"
import { Redacted } from "effect"
import { sameOrigin } from "../outbound/CustomerUrl.ts"
import type { OwnedSecrets } from "../storage/SecretBox.ts"

/** A header as it is stored. */
export interface SealedHeader {
  readonly name: string
  readonly kind: HeaderKind
  /** Empty when there is none: the header is not sent. */
  readonly value: string
}

/** What has headers, and where they are sent. */
interface Addressed {
  readonly url: string
  readonly headers: ReadonlyArray<SealedHeader>
}

type SentHeaders = NonNullable<ToolPatch["headers"]>

/** The stored headers as they are for `url`: without their values on another origin. */
export const keptHeaders = (stored: Addressed | undefined, url: string): ReadonlyArray<SealedHeader> =>
  stored === undefined
    ? []
    : sameOrigin(stored.url, url)
      ? stored.headers
      : stored.headers.map((header) => ({ ...header, value: "" }))

/** The headers that have a value. */
export const sentHeaders = (headers: ReadonlyArray<SealedHeader>): ReadonlyArray<SealedHeader> =>
  headers.filter(({ value }) => value !== "")

/** As the API shows a header. */
export const showHeader = ({ kind, name, value }: SealedHeader) => ({
  name,
  kind,
  value: null,
  has_secret: value !== ""
})

/** The headers as they are to be stored, in the order they were sent. @param kept by `keptHeaders` */
export const sealHeaders = (
  secrets: OwnedSecrets,
  sent: SentHeaders,
  kept: ReadonlyArray<SealedHeader>
): ReadonlyArray<SealedHeader> =>
  sent.map(({ kind = "custom", name: given, value }) => {
    const name = nameOf(kind, given)
    const previous = kept.find(isHeader(kind, name))
    return {
      name,
      kind,
      value: value == null ? (previous?.value ?? "") : secrets.seal(value, previous?.value || null)
    }
  })

/** Headers without a name, and new ones without a value. */
export const missingParts = (sent: SentHeaders, kept: ReadonlyArray<SealedHeader>): ReadonlyArray<Fault> =>
  sent.flatMap((header, index) => [
    ...((header.kind ?? "custom") === "custom" && header.name === undefined
      ? [fault(["body", "headers", index, "name"], "field required", "missing")]
      : []),
    ...(header.value == null &&
    !kept.some(isHeader(header.kind ?? "custom", nameOf(header.kind ?? "custom", header.name)))
      ? [fault(["body", "headers", index, "value"], "field required", "missing")]
      : [])
  ])

/** In the clear, for validating them. */
export const openHeaders = (secrets: OwnedSecrets, sealed: ReadonlyArray<SealedHeader>) =>
  sealed.map((header) => ({
    ...header,
    value: header.value === "" ? "" : Redacted.value(secrets.open(header.value))
  }))

const nameOf = (kind: HeaderKind, given: string | undefined): string =>
  kind === "custom" ? (given ?? "") : "Authorization"

const isHeader = (kind: HeaderKind, name: string) => (one: SealedHeader) =>
  one.kind === kind && one.name.toLowerCase() === name.toLowerCase()
