// One way to one far side: UDP to an address, or an open TCP or TLS connection. A call speaks over the flow it came by.
import type { SipTransport } from "../phone/Phone.ts"

/** A way to send to one far side. Sending never throws; what cannot leave is dropped. */
export interface Flow {
  readonly transport: SipTransport
  readonly remote: { readonly address: string; readonly port: number }
  /** Delivers by itself; nothing needs to be sent again. */
  readonly reliable: boolean
  readonly send: (text: string) => void
  /** Of a connection that was opened for one call: it ends with it. */
  readonly close?: (() => void) | undefined
  /** Where else this flow's socket can send to; undefined for connections. */
  readonly sendTo?: ((text: string, address: string, port: number) => void) | undefined
}

/** As a Via header names it. */
export const protocolOf = (transport: SipTransport): string => transport.toUpperCase()
