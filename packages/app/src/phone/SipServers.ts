// Who opens the door of the telephone: the SIP door, or in tests one without a network.
import type { SipServer, SipServerOptions } from "@parley/transport/phone/Phone"
import { makeSipServer } from "@parley/transport/sip/SipServer"
import { Context, Layer } from "effect"

export class SipServers extends Context.Service<
  SipServers,
  { readonly open: (options: SipServerOptions) => Promise<SipServer> }
>()("@parley/app/SipServers") {
  static readonly layer: Layer.Layer<SipServers> = Layer.succeed(SipServers, { open: makeSipServer })
}
