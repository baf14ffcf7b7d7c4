// Places for live calls, counted once for every way a call begins: of the service, of each workspace, of each agent. Plain and
// synchronous, so that two who come at once cannot have the last one.
import type { Tenant } from "@parley/workspace/sessions/SessionLife"
import type { CallLimits } from "../AppSettings.ts"
import { Call } from "./Call.ts"
import { NoPlace } from "./NoPlace.ts"

export interface Newcomer {
  /** Where it is known before: a session has one call. */
  readonly sessionId?: string
  readonly tenant?: Tenant
}

export class Places {
  readonly #limits: CallLimits
  readonly #calls = new Set<Call>()
  readonly #bySession = new Map<string, Call>()

  constructor(limits: CallLimits) {
    this.#limits = limits
  }

  /** Why there would be no place now. */
  refusal(who: Newcomer): NoPlace | undefined {
    if (who.sessionId !== undefined && this.#bySession.has(who.sessionId)) return new NoPlace({ reason: "taken" })
    if (this.#calls.size >= this.#limits.service) return new NoPlace({ reason: "full" })
    return who.tenant === undefined || this.#hasRoom(who.tenant) ? undefined : new NoPlace({ reason: "full" })
  }

  take(who: Newcomer): Call | NoPlace {
    const refusal = this.refusal(who)
    if (refusal !== undefined) return refusal
    const call = new Call(who)
    this.#calls.add(call)
    if (who.sessionId !== undefined) this.#bySession.set(who.sessionId, call)
    return call
  }

  /** False when the tenant's places are taken; the call keeps the service's until it leaves. */
  assign(call: Call, tenant: Tenant): boolean {
    if (!this.#hasRoom(tenant)) return false
    call.tenant = tenant
    return true
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

  count(which: (call: Call) => boolean): number {
    let count = 0
    for (const call of this.#calls) if (which(call)) count++
    return count
  }

  #hasRoom({ agentId, workspaceId }: Tenant): boolean {
    const ofWorkspace = this.#limits.workspace?.(workspaceId)
    const ofAgent = this.#limits.agent?.(agentId)
    return (
      (ofWorkspace === undefined || this.count(({ tenant }) => tenant?.workspaceId === workspaceId) < ofWorkspace) &&
      (ofAgent === undefined || this.count(({ tenant }) => tenant?.agentId === agentId) < ofAgent)
    )
  }
}
