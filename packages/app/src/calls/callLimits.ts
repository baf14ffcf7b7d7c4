// How many calls whoever may have at the same time, where the settings say nothing. The last tenth of the places is a reserve:
// one workspace cannot take it from others, and strangers at one agent cannot take it from callers with a key.
import type { CallLimitSettings } from "../AppSettings.ts"

/** Calls at the same time. Undefined: as many as the service takes. */
export interface CallLimits {
  readonly service: number
  readonly workspace?: (workspaceId: string) => number | undefined
  /** Of strangers at one agent: visitors without a key, callers by telephone. */
  readonly publicAgent?: (agentId: string) => number | undefined
  /** Of strangers from one address. */
  readonly address?: number
}

/** A service with fewer places has no reserve. */
const fewest = 4
/** Visitors behind one address, at least. */
const fewestByAddress = 2

/** `workspaces`: how many there are now. The only one may have every place. */
export const limitsOf = (settings: CallLimitSettings, workspaces: () => number): CallLimits => {
  const { address, publicAgent, service, workspace } = settings
  const tenth = Math.round(service / 10)
  const unreserved = service < fewest ? service : service - Math.max(1, tenth)
  return {
    service,
    workspace: () => workspace ?? (workspaces() > 1 ? unreserved : undefined),
    publicAgent: () => publicAgent ?? unreserved,
    address: address ?? Math.max(fewestByAddress, tenth)
  }
}
