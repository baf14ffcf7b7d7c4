// Where a call may be handed to.
import { Schema } from "effect"
import { defaulted, listOf, text } from "../Field.ts"

const e164 = /^\+[1-9]\d{6,14}$/
const sipUri = /^sips?:[^\s@<>"]+@[^\s@<>"]+$/i

const OnFailure = Schema.Struct({
  action: defaulted(Schema.Literals(["return_to_agent", "end_call"]), "return_to_agent"),
  message: defaulted(text(10_000), "")
})

/** A person or an agent a call may be handed to. */
export const TransferDestination = Schema.Struct({
  type: defaulted(Schema.Literals(["phone", "sip"]), "phone"),
  label: defaulted(text(64), ""),
  phone_number: defaulted(Schema.NullOr(text(32)), null),
  sip_uri: defaulted(Schema.NullOr(text(1024)), null),
  description: defaulted(text(500), ""),
  mode: defaulted(Schema.Literals(["cold", "warm"]), "cold"),
  warm_connect: defaulted(Schema.Literals(["confirm", "briefing", "direct"]), "confirm"),
  warm_briefing_instructions: defaulted(text(1000), ""),
  on_failure: defaulted(OnFailure, {})
}).check(
  Schema.makeFilter((item) => {
    if (item.type === "phone") {
      if (item.phone_number === null || !e164.test(item.phone_number)) {
        return { path: ["phone_number"], issue: "must be an E.164 number" }
      }
      return item.sip_uri === null ? undefined : { path: ["sip_uri"], issue: "must be null for type phone" }
    }
    if (item.sip_uri === null || !sipUri.test(item.sip_uri)) return { path: ["sip_uri"], issue: "must be a SIP URI" }
    return item.phone_number === null ? undefined : { path: ["phone_number"], issue: "must be null for type sip" }
  })
)

/** With two or more, each needs a label of its own, whatever its case. */
export const TransferDestinations = listOf(TransferDestination, 20).check(
  Schema.makeFilter((items: ReadonlyArray<{ readonly label: string }>) => {
    if (items.length < 2) return undefined
    const seen = new Set<string>()
    for (const [index, { label }] of items.entries()) {
      const key = label.trim().toLowerCase()
      if (key === "") return { path: [index, "label"], issue: "is required with two or more destinations" }
      if (seen.has(key)) return { path: [index, "label"], issue: "must be unique" }
      seen.add(key)
    }
    return undefined
  })
)
