// Sockets whose key comes with the first message: until it came they are few, by address and in all, and they wait for it only
// a moment.
import { TooManyRequests } from "@parley/contract/Errors"
import { Context, Effect, Layer, type Scope } from "effect"
import { Settings } from "../../Settings.ts"
import { clientAddress } from "../clientAddress.ts"

const mostByAddress = 32
const most = 1_024

/** The key has come within this time. */
export const keyMs = 5_000
/** Largest frame before the key. */
export const keyFrameBytes = 16 * 1024

/** A socket without a key. */
export interface UnauthenticatedSocket {
  /** The key has come and is right: the socket no longer counts. */
  readonly authenticated: () => void
}

export class UnauthenticatedSockets extends Context.Service<
  UnauthenticatedSockets,
  {
    /** Counted until it is authenticated or the scope closes. Fails when there are too many. */
    readonly enter: Effect.Effect<UnauthenticatedSocket, TooManyRequests, Scope.Scope>
  }
>()("@parley/server/UnauthenticatedSockets") {
  static readonly layer: Layer.Layer<UnauthenticatedSockets, never, Settings> = Layer.effect(
    UnauthenticatedSockets,
    Effect.gen(function* () {
      const settings = yield* Settings
      const byAddress = new Map<string, number>()
      let all = 0

      const leave = (address: string): void => {
        const left = (byAddress.get(address) ?? 1) - 1
        if (left === 0) byAddress.delete(address)
        else byAddress.set(address, left)
        all -= 1
      }

      const take = Effect.gen(function* () {
        const address = yield* clientAddress
        const here = byAddress.get(address) ?? 0
        if (here >= mostByAddress || all >= most) {
          return yield* new TooManyRequests({ message: "Too many sockets without an API key" })
        }
        byAddress.set(address, here + 1)
        all += 1
        let counted = true
        const authenticated = (): void => {
          if (counted) leave(address)
          counted = false
        }
        return { authenticated }
      })
      return {
        enter: Effect.acquireRelease(Effect.provideService(take, Settings, settings), ({ authenticated }) =>
          Effect.sync(authenticated)
        )
      }
    })
  )
}
