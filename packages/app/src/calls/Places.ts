// Places for live calls, counted once for every way a call begins: of the service, of each workspace, of strangers at each agent
// and from each address. Plain and synchronous, so that two who come at once cannot have the last one. A place is for good
// once media flows: before that, a call whose socket is cut, or which takes too long, loses it to a newcomer.
import type { Tenant } from "@parley/workspace/sessions/SessionLife"
import { Call, type Stranger } from "./Call.ts"
import type { CallLimits } from "./callLimits.ts"
import { NoPlace } from "./NoPlace.ts"

export interface Newcomer {
  /** Where it is known before: a session has one call. */
  readonly sessionId?: string
  readonly tenant?: Tenant
  /** Who comes without a key of the workspace. */
  readonly stranger?: Stranger
  /** Media is still to flow, by itself, to a place that is held for it. */
  readonly awaitsMedia?: boolean
}

/** Media flows within 200 ms as a rule; a place that waited this long for it may be another's. */
const patienceMs = 2_000

type Crowd = (call: Call) => boolean

export class Places {
  readonly #limits: CallLimits
  readonly #nowMs: () => number
  readonly #calls = new Set<Call>()
  readonly #bySession = new Map<string, Call>()

  /** `nowMs`: a clock in milliseconds. */
  constructor(limits: CallLimits, nowMs: () => number) {
    this.#limits = limits
    this.#nowMs = nowMs
  }

  /** Why there would be no place now. */
  refusal(who: Newcomer): NoPlace | undefined {
    if (who.sessionId !== undefined && this.#bySession.has(who.sessionId)) return new NoPlace({ reason: "taken" })
    const crowd = this.#crowd(who)
    return crowd === undefined || this.#idle(crowd) !== undefined ? undefined : new NoPlace({ reason: "full" })
  }

  take(who: Newcomer): Call | NoPlace {
    if (who.sessionId !== undefined && this.#bySession.has(who.sessionId)) return new NoPlace({ reason: "taken" })
    if (!this.#makeRoom(who)) return new NoPlace({ reason: "full" })
    const call = new Call(who, this.#nowMs())
    this.#calls.add(call)
    if (who.sessionId !== undefined) this.#bySession.set(who.sessionId, call)
    return call
  }

  /** False when the tenant's places are taken; the call keeps the service's until it leaves. */
  assign(call: Call, tenant: Tenant): boolean {
    this.#calls.delete(call)
    const isFree = this.#makeRoom({ tenant, ...(call.stranger === undefined ? {} : { stranger: call.stranger }) })
    this.#calls.add(call)
    if (isFree) call.tenant = tenant
    return isFree
  }

  /** The session of a call that began without one. */
  name(call: Call, sessionId: string): void {
    call.sessionId = sessionId
    this.#bySession.set(sessionId, call)
  }

  leave(call: Call): void {
    this.#calls.delete(call)
    if (call.sessionId !== undefined && this.#bySession.get(call.sessionId) === call) {
      this.#bySession.delete(call.sessionId)
    }
  }

  find(sessionId: string): Call | undefined {
    return this.#bySession.get(sessionId)
  }

  all(): ReadonlyArray<Call> {
    return [...this.#calls]
  }

  /** Places that are taken. */
  get size(): number {
    return this.#calls.size
  }

  #count(crowd: Crowd): number {
    let count = 0
    for (const call of this.#calls) if (crowd(call)) count++
    return count
  }

  /** Ends idle calls of every crowd that leaves no place for this one. */
  #makeRoom(who: Newcomer): boolean {
    for (let crowd = this.#crowd(who); crowd !== undefined; crowd = this.#crowd(who)) {
      const idle = this.#idle(crowd)
      if (idle === undefined) return false
      // Its session stays known until its record is settled.
      this.#calls.delete(idle)
      idle.end("displaced")
    }
    return true
  }

  /** The calls that leave no place; undefined when there is one. */
  #crowd({ stranger, tenant }: Newcomer): Crowd | undefined {
    const { address, publicAgent, service, workspace } = this.#limits
    const crowds: Array<readonly [crowd: Crowd, most: number | undefined]> = [[() => true, service]]
    if (tenant !== undefined) {
      const { agentId, workspaceId } = tenant
      crowds.push([(call) => call.tenant?.workspaceId === workspaceId, workspace?.(workspaceId)])
      if (stranger !== undefined) {
        const isOfAgent: Crowd = (call) => call.stranger !== undefined && call.tenant?.agentId === agentId
        crowds.push([isOfAgent, publicAgent?.(agentId)])
      }
    }
    if (stranger?.address !== undefined) crowds.push([(call) => call.stranger?.address === stranger.address, address])
    return crowds.find(([crowd, most]) => most !== undefined && this.#count(crowd) >= most)?.[0]
  }

  /** The one of them that has waited longest for its media, and long enough. */
  #idle(crowd: Crowd): Call | undefined {
    const nowMs = this.#nowMs()
    for (const call of this.#calls) {
      if (call.awaitsMedia && crowd(call) && (call.isAway || nowMs - call.sinceMs >= patienceMs)) return call
    }
    return undefined
  }
}
