// How many calls may be live at the same time; given by whoever wires the service.

/** Calls at the same time. Left out or undefined: as many as the service takes. */
export interface CallLimits {
  readonly service: number
  readonly workspace?: ((workspaceId: string) => number | undefined) | undefined
  readonly agent?: ((agentId: string) => number | undefined) | undefined
}
