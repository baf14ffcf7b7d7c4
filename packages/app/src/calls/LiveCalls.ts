// The calls this process holds right now, as the rest of the desk sees them.
import type { LiveKitServer } from "@parley/transport/livekit/LiveKitServer"
import { Context, type Effect } from "effect"

export class LiveCalls extends Context.Service<
  LiveCalls,
  {
    /**
     * Asks a live call to end as `agent_hangup` and waits until its facts are stored. False when this process does
     * not hold it.
     */
    readonly end: (sessionId: string) => Effect.Effect<boolean>
    /** A telephone call that rings is given up; its record is settled already. */
    readonly giveUp: (sessionId: string) => void
    /** Handlers of media signalling, for whoever has the HTTP server. */
    readonly signalling: {
      readonly upgrade: LiveKitServer["handleUpgrade"]
      readonly validate: LiveKitServer["handleValidate"]
    }
    /** Nobody joins any more; live calls say goodbye and are stored. */
    readonly drain: Effect.Effect<void>
    readonly count: Effect.Effect<number>
    /** The service is stopping: nobody can join any more. */
    readonly draining: Effect.Effect<boolean>
  }
>()("@parley/app/LiveCalls") {}
