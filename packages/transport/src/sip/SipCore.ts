// sip.js's core on one flow: the transactions and dialogs of one call (RFC 3261, 12 and 17). One core for each call
// keeps them apart, for its transport knows no destination. What the core lacks on UDP is added here; what it throws
// at malformed messages ends here.
import {
  type Dialog,
  LoggerFactory,
  type DigestAuthentication,
  Parser,
  Timers,
  UserAgentCore
} from "sip.js/lib/core/index.js"
import { type IncomingRequestMessage, IncomingResponseMessage } from "sip.js/lib/core/index.js"
import { URI } from "sip.js/lib/grammar/index.js"
import { Deferred, Effect } from "effect"
import { CoreBoundary } from "./CoreBoundary.ts"
import { DigestClient } from "./digest.ts"
import { type Flow, protocolOf } from "./Flow.ts"
import { elsewhere } from "./hops.ts"
import type { MayReach } from "../phone/Phone.ts"
import type { SipTrace } from "./SipTrace.ts"
import { Retransmissions } from "./Retransmissions.ts"
import { peekHeaders, headerIn, headOf, nextHop } from "./text.ts"

// sip.js assumes a transport that delivers (RFC 3261, table 4): on UDP finished transactions must wait for repeats.
Timers.TIMER_D = 32_000
Timers.TIMER_I = 5_000
Timers.TIMER_J = 32_000
Timers.TIMER_K = 5_000

/** One call's flow, and who we are on it. */
export interface SipCoreOptions {
  readonly flow: Flow
  readonly sipTrace: SipTrace
  /** `host:port` of ours, in Via and Contact. */
  readonly here: string
  readonly userAgent: string
  readonly mayReach: MayReach
  /** Whom our requests come from; the user part of a call that came in. */
  readonly user: string
  readonly credentials?: { readonly username: string; readonly password: string } | undefined
  /** Told what a timer of the core threw; `broken` is done then. */
  readonly onFault?: ((error: unknown) => void) | undefined
}

/** The transactions and dialogs of one call. */
export interface SipCore {
  readonly core: UserAgentCore
  readonly contact: string
  /** Runs what calls into `core`; whoever calls it otherwise leaves its timers without an owner. Throws what that throws. */
  readonly enter: <A>(act: () => A) => A
  /** Done when a timer of the core threw: the call cannot go on. */
  readonly broken: Deferred.Deferred<void>
  /** A whole message from the flow. Throws nothing. */
  readonly receive: (message: IncomingRequestMessage | IncomingResponseMessage, text: string) => void
  /** A message that was taken elsewhere: for the sipTrace. */
  readonly saw: (text: string) => void
  /** Nothing is sent any more. */
  readonly close: () => void
}

const quiet = new LoggerFactory()
quiet.builtinEnabled = false

/** Undefined for what cannot be parsed. */
export const parse = (text: string): IncomingRequestMessage | IncomingResponseMessage | undefined => {
  try {
    const message = Parser.parseMessage(text, quiet.getLogger("parse"))
    if (message === undefined || message.via === undefined || message.from === undefined) return undefined
    return message.to === undefined || !message.callId || message.cseq === undefined ? undefined : message
  } catch {
    return undefined
  }
}

/** sip.js's core on this flow. Closed by `close`, after which nothing is sent. */
export const makeSipCore = (options: SipCoreOptions): SipCore => {
  const { flow, here, mayReach, onFault, sipTrace } = options
  let closed = false
  const broken = Deferred.makeUnsafe<void>()
  const boundary = new CoreBoundary((error) => {
    sipTrace.note("the core broke", shortOf(error))
    Deferred.doneUnsafe(broken, Effect.void)
    onFault?.(error)
  })
  const enter = <A>(act: () => A): A => boundary.enter(act)

  /** Branches of what belongs to no dialog: that goes to whom the flow was opened, whatever its target. */
  const direct = new Set<string>()
  const isFirstHop = (text: string): boolean => {
    const seen = peekHeaders(text)
    if (seen?.method === undefined) return true
    if (!/;\s*tag=/i.test(headerIn(headOf(text), "to") ?? "")) direct.add(seen.branch)
    return direct.has(seen.branch)
  }

  const leave = (text: string): void => {
    if (closed) return
    const hop = flow.sendTo === undefined || isFirstHop(text) ? undefined : elsewhere(flow, nextHop(text), mayReach)
    if (hop === undefined) flow.send(text)
    else flow.sendTo?.(text, hop.host, hop.port)
  }
  const repeats = flow.reliable ? undefined : new Retransmissions(leave)
  const transport = flow.transport === "udp" ? "" : `;transport=${flow.transport}`
  const [host = "", port = "5060"] = splitHere(here)
  const contactUri = new URI(
    "sip",
    options.user,
    host,
    Number(port),
    flow.transport === "udp" ? {} : { transport: flow.transport }
  )
  const contact = `<sip:${options.user === "" ? "" : `${encodeURIComponent(options.user)}@`}${here}${transport}>`
  const core = new UserAgentCore({
    aor: contactUri,
    contact: { pubGruu: undefined, tempGruu: undefined, uri: contactUri, toString: () => contact },
    displayName: "",
    loggerFactory: quiet,
    hackViaTcp: false,
    routeSet: [],
    sipjsId: "parley",
    supportedOptionTags: ["timer", "100rel"],
    supportedOptionTagsResponse: ["timer", "100rel"],
    userAgentHeaderFieldValue: options.userAgent,
    viaForceRport: true,
    viaHost: here,
    authenticationFactory: () =>
      options.credentials === undefined ? undefined : new Credentials(options.credentials).asSipJs,
    transportAccessor: () => ({
      protocol: protocolOf(flow.transport),
      send: (text: string) => {
        sipTrace.message("out", text)
        repeats?.sent(text)
        leave(text)
        return Promise.resolve()
      }
    })
  })
  const dialogs = new Dialogs()
  core.dialogs = dialogs
  return {
    core,
    contact,
    enter,
    broken,
    receive: (message, text) => {
      sipTrace.message("in", text)
      repeats?.came(text)
      try {
        if (message instanceof IncomingResponseMessage) {
          return enter(() => core.receiveIncomingResponseFromTransport(message))
        }
        if (message.ruri === undefined) return
        // Calls come in for any number: the address that is asked for is ours.
        core.configuration.aor = message.ruri
        enter(() => core.receiveIncomingRequestFromTransport(message))
      } catch (error) {
        sipTrace.note("refused by the core", shortOf(error))
        if (!(message instanceof IncomingResponseMessage) && message.method !== "ACK") reply(core, message, 400)
      }
    },
    saw: (text) => sipTrace.message("in", text),
    close: () => {
      closed = true
      repeats?.close()
      disposeOf(core, dialogs)
    }
  }
}

/** Ends every transaction and dialog, and their timers with them. */
const disposeOf = (core: UserAgentCore, dialogs: Dialogs): void => {
  // A 200 that was never acknowledged would be said again for ever: the core stops that with a state it no longer
  // reaches.
  for (const dialog of dialogs.every) {
    Reflect.set(dialog, "ackWait", false)
    Reflect.set(dialog, "reinviteUserAgentServer", undefined)
  }
  dialogs.every.clear()
  // A dialog whose making failed half-way is in there and cannot be disposed of: it must not keep the others' timers.
  for (const parts of [core.dialogs, core.subscribers, core.userAgentClients, core.userAgentServers]) {
    for (const part of parts.values()) quietly(() => part.dispose())
    parts.clear()
  }
  quietly(() => core.dispose())
}

/** Remembers those that are over. */
class Dialogs extends Map<string, Dialog> {
  readonly every = new Set<Dialog>()

  override set(key: string, dialog: Dialog): this {
    this.every.add(dialog)
    return super.set(key, dialog)
  }
}

const shortOf = (error: unknown): string => (error instanceof Error ? error.message.slice(0, 120) : "")

const quietly = (act: () => void): void => {
  try {
    act()
  } catch {
    // There is nothing left of it.
  }
}

/** An answer outside of transactions; none where the message lacks what one is made of. */
const reply = (core: UserAgentCore, message: IncomingRequestMessage, statusCode: number): void => {
  try {
    core.replyStateless(message, { statusCode })
  } catch {
    // Without what an answer is made of there is none.
  }
}

const splitHere = (here: string): ReadonlyArray<string> => {
  const at = here.lastIndexOf(":")
  return [here.slice(0, at), here.slice(at + 1)]
}

/** Our digest in the shape that sip.js asks for. */
class Credentials {
  readonly #client: DigestClient
  #value = ""

  constructor({ password, username }: { readonly username: string; readonly password: string }) {
    this.#client = new DigestClient(username, password)
  }

  authenticate(
    request: { readonly method: string; readonly ruri: unknown },
    challenge: Record<string, unknown>
  ): boolean {
    this.#value = this.#client.answer(request.method, String(request.ruri), challenge) ?? ""
    return this.#value !== ""
  }

  toString(): string {
    return this.#value
  }

  /** The library's class has private fields; these two methods are all it calls. */
  get asSipJs(): DigestAuthentication {
    return this as unknown as DigestAuthentication
  }
}
