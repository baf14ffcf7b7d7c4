// What arrives on the data channels: events of the client app (data of topic `client-event`, or an RPC call of a method of
// that name, which is answered, so that a client can make sure), DTMF digits, other RPC calls, and much that is not for us. Anything unknown, oversized or unreadable is passed over in silence: apps may be
// newer than we are, and strangers must not be able to disturb a call.
import { DataPacket, RpcAck, RpcError, type RpcRequest, RpcResponse } from "@livekit/protocol"
import { ClientEvent, clientTopic } from "@parley/contract/ClientEvent"
import { Option, Schema } from "effect"

/** What a data packet of a client says to us. */
export type ClientData =
  | { readonly _tag: "Event"; readonly event: ClientEvent }
  | { readonly _tag: "Digit"; readonly digit: string }
  /** A method that the agent does not offer. */
  | { readonly _tag: "Rpc"; readonly id: string }
  /** An event by RPC. `messageId` is the client's: a repeated one was taken before. Undefined `event`: not known here. */
  | {
      readonly _tag: "EventCall"
      readonly id: string
      readonly messageId: string
      readonly event: ClientEvent | undefined
    }

/** Bytes of a data packet; longer ones are passed over. */
const maxDataBytes = 16 * 1024

const decodeEvent = Schema.decodeUnknownOption(Schema.fromJsonString(ClientEvent))
const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Undefined for text, for what is too long, and for what is no DataPacket. */
export const readPacket = (message: string | Buffer): DataPacket | undefined => {
  if (typeof message === "string" || message.byteLength > maxDataBytes) return undefined
  try {
    return DataPacket.fromBinary(message)
  } catch {
    return undefined
  }
}

/** Undefined for what is not for us. */
export const readClientData = ({ value }: DataPacket): ClientData | undefined => {
  switch (value.case) {
    case "user":
      return value.value.topic === clientTopic ? readEvent(value.value.payload) : undefined
    case "sipDtmf":
      return /^[0-9A-D*#]$/.test(value.value.digit) ? { _tag: "Digit", digit: value.value.digit } : undefined
    case "rpcRequest":
      return value.value.id === "" ? undefined : readCall(value.value)
    default:
      return undefined
  }
}

const readEvent = (payload: Uint8Array): ClientData | undefined => {
  let text: string
  try {
    text = utf8.decode(payload)
  } catch {
    return undefined
  }
  return Option.getOrUndefined(Option.map(decodeEvent(text), (event) => ({ _tag: "Event" as const, event })))
}

const EventCall = Schema.fromJsonString(Schema.Struct({ id: Schema.String, event: Schema.Unknown }))
const decodeCall = Schema.decodeUnknownOption(EventCall)
const decodeCalled = Schema.decodeUnknownOption(ClientEvent)
const maxIdChars = 64

const readCall = ({ id, method, payload }: RpcRequest): ClientData => {
  const call = method === clientTopic ? Option.getOrUndefined(decodeCall(payload)) : undefined
  if (call === undefined || call.id === "" || call.id.length > maxIdChars) return { _tag: "Rpc", id }
  return { _tag: "EventCall", id, messageId: call.id, event: Option.getOrUndefined(decodeCalled(call.event)) }
}

/** The answer to an event by RPC: it was taken. */
export const acceptRpc = (id: string): Array<DataPacket["value"]> => [
  { case: "rpcAck", value: new RpcAck({ requestId: id }) },
  { case: "rpcResponse", value: new RpcResponse({ requestId: id, value: { case: "payload", value: "" } }) }
]

/** The agent offers no methods: callers get a clear answer instead of a time-out. */
export const refuseRpc = (id: string): Array<DataPacket["value"]> => [
  { case: "rpcAck", value: new RpcAck({ requestId: id }) },
  {
    case: "rpcResponse",
    value: new RpcResponse({
      requestId: id,
      value: { case: "error", value: new RpcError({ code: 1400, message: "Method not supported at destination" }) }
    })
  }
]
