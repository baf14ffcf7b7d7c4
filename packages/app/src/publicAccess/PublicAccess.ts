// Sessions without a key: only of an agent that is public, only from a page whose origin is on its list, and only so many in a
// minute (429 beyond). Anything else is a 403 that says which of these it was; an unknown agent answers like one that is not
// public. Visitors may override the voice and the language, set what the agent's owner lets them, and give no name, else 400.
import {
  BadRequest,
  type Conflict,
  Forbidden,
  type Invalid,
  type NotFound,
  type PaymentRequired,
  TooManyRequests
} from "@parley/contract/Errors"
import { PublicField } from "@parley/contract/Agent"
import type { SessionTicket } from "@parley/contract/Session"
import type { SessionCreate } from "@parley/contract/SessionRequest"
import { Agents, type PublicAgent } from "@parley/workspace/agents/Agents"
import { Clock, Context, Effect, Layer } from "effect"
import { MinuteWindows } from "./MinuteWindows.ts"
import { SessionRequests } from "../sessions/SessionRequests.ts"

/** Who asks without a key. */
export interface Visit {
  /** Of the page, as the browser says. */
  readonly origin: string | undefined
  /** IP address, or the prefix that counts as one. */
  readonly address: string
}

/** Sessions in one minute. */
const perAgent = 60
const perAddress = 10
/** Requests in one minute, whatever becomes of them. */
const requestsPerAddress = 120

/** What visitors without a key may do. */
export class PublicAccess extends Context.Service<
  PublicAccess,
  {
    /** Counts a request of a visitor, before anything of it is read. */
    readonly request: (address: string) => Effect.Effect<void, TooManyRequests>
    /** The agent, when the visitor may use it; else 403. */
    readonly agent: (visit: Visit, agentId: string) => Effect.Effect<PublicAgent, Forbidden>
    /** A pending session of the agent's published version; `rtcUrl`: where media signalling is for this visitor. */
    readonly open: (
      visit: Visit,
      request: SessionCreate,
      rtcUrl: string
    ) => Effect.Effect<
      SessionTicket,
      BadRequest | Conflict | Forbidden | Invalid | NotFound | PaymentRequired | TooManyRequests
    >
  }
>()("@parley/app/PublicAccess") {
  static readonly layer: Layer.Layer<PublicAccess, never, Agents | SessionRequests> = Layer.effect(
    PublicAccess,
    Effect.gen(function* () {
      const agents = yield* Agents
      const sessionRequests = yield* SessionRequests
      const windows = new MinuteWindows()

      const agent = Effect.fnUntraced(function* ({ origin }: Visit, agentId: string) {
        const found = yield* agents.publicFace(agentId)
        if (found === undefined || !found.isPublic) return yield* new Forbidden({ message: "The agent is not public" })
        if (origin === undefined) return yield* new Forbidden({ message: "An Origin header is required" })
        if (!found.allowedOrigins.some((allowed) => isSame(allowed, origin))) {
          return yield* new Forbidden({ message: "The origin is not allowed" })
        }
        if (!found.isAvailable) return yield* new Forbidden({ message: "The agent is unavailable" })
        return found
      })

      return {
        request: Effect.fnUntraced(function* (address) {
          const nowMs = yield* Clock.currentTimeMillis
          const free =
            windows.isFree(`request ${address}`, requestsPerAddress, nowMs) &&
            windows.isFree(`address ${address}`, perAddress, nowMs)
          if (!free) return yield* new TooManyRequests({ message: "Too many requests in this minute" })
          windows.count(`request ${address}`, nowMs)
        }),
        agent,
        open: Effect.fn("PublicAccess.open")(function* (visit, request, rtcUrl) {
          const { fieldsAllowed, workspaceId } = yield* agent(visit, request.agent_id)
          const fault = faultOf(request, fieldsAllowed)
          if (fault !== undefined) return yield* new BadRequest({ message: fault })
          const nowMs = yield* Clock.currentTimeMillis
          const free =
            windows.isFree(`agent ${request.agent_id}`, perAgent, nowMs) &&
            windows.isFree(`address ${visit.address}`, perAddress, nowMs)
          if (!free) return yield* new TooManyRequests({ message: "Too many sessions in this minute" })
          windows.count(`agent ${request.agent_id}`, nowMs)
          windows.count(`address ${visit.address}`, nowMs)
          const isToldOfTools = fieldsAllowed.includes("tool_events") && request.tool_events !== false
          return yield* sessionRequests.open(workspaceId, { ...request, tool_events: isToldOfTools }, rtcUrl, "public")
        })
      }
    })
  )
}

/** Visitors may choose a voice and a language, and set what the agent's owner lets them. */
const faultOf = (request: SessionCreate, allowed: ReadonlyArray<PublicField>): string | undefined => {
  const { name, overrides } = request
  if (name != null) return "name needs an API key"
  const set = PublicField.literals.filter((field) => request[field] != null && request[field] !== false)
  const refused = set.filter((field) => !allowed.includes(field))
  if (refused.length > 0) return `The agent does not let visitors set ${refused.join(", ")}`
  const other = Object.entries(overrides ?? {}).find(
    ([field, value]) => value != null && field !== "voice_id" && field !== "language"
  )
  return other === undefined ? undefined : `The override ${other[0]} needs an API key`
}

/** Scheme, host and port; a host is the same in any case. */
const isSame = (allowed: string, origin: string): boolean => {
  if (!URL.canParse(allowed) || !URL.canParse(origin)) return false
  return new URL(allowed).origin === new URL(origin).origin
}
