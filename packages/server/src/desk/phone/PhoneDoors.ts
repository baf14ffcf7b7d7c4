// Who opens the door of the telephone: the SIP door, or in tests one without a network.
import type { PhoneDoor, PhoneDoorOptions } from "@parley/transport/phone/Phone"
import { makePhoneDoor } from "@parley/transport/phone/PhoneDoor"
import { Context, Layer } from "effect"

export class PhoneDoors extends Context.Service<
  PhoneDoors,
  { readonly open: (options: PhoneDoorOptions) => Promise<PhoneDoor> }
>()("parley/server/desk/phone/PhoneDoors") {
  static readonly layer: Layer.Layer<PhoneDoors> = Layer.succeed(PhoneDoors, { open: makePhoneDoor })
}
