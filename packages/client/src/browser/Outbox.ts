// What the page says to the service: each message arrives once and in order, across reconnects. `publishData` cannot
// promise that: during a reconnect livekit-client (2.23) resolves it with the packet in a buffer, which it replays only
// after a resume in which the service named an earlier packet, and drops with a full reconnect; and when publishing the
// microphone breaks it reports `connected` while its next attempt is still under way. So a message is an RPC call with
// an id of its own, made again until it is answered; the service takes each id once.
import { clientTopic, type ClientEvent } from "@parley/contract/ClientEvent"
import { ConnectionState, type Room, RoomEvent, RpcError } from "livekit-client"

/** A call that is not answered within this time is made again. */
const answerMs = 1_000
/** Where there is nothing to send over, this is looked at again. */
const unusableMs = 100

/** Messages of the page on their way to the service. */
export class Outbox {
  readonly #room: Room
  /** Done when what was said before is answered, tried or given up. */
  #last: Promise<unknown> = Promise.resolve()
  readonly #closed = Promise.withResolvers<"closed">()
  #connected = Promise.withResolvers<"late">()

  constructor(room: Room) {
    this.#room = room
    room.on(RoomEvent.ConnectionStateChanged, (state) => {
      if (state !== ConnectionState.Connected) return
      this.#connected.resolve("late")
      this.#connected = Promise.withResolvers()
    })
    room.on(RoomEvent.Disconnected, () => this.#closed.resolve("closed"))
  }

  /** Resolves when the service has taken the message; rejects when the connection ends before. */
  send(event: ClientEvent): Promise<void> {
    const payload = JSON.stringify({ id: crypto.randomUUID(), event })
    const tried = Promise.withResolvers<void>()
    const sent = this.#last.then(() => this.#sendOne(payload, tried.resolve))
    // The next one waits for the answer, or for one try without: an answer that is lost must not hold up the rest.
    this.#last = Promise.race([sent.catch(() => undefined), tried.promise])
    return sent
  }

  async #sendOne(payload: string, tried: () => void): Promise<void> {
    const answered = Promise.withResolvers<"answered">()
    answered.promise.catch(() => undefined)
    for (;;) {
      this.#call(payload).then(
        () => answered.resolve("answered"),
        (error: unknown) => {
          // An answer too: the service is there, and does not take it.
          if (error instanceof RpcError && error.code === RpcError.ErrorCode.UNSUPPORTED_METHOD) answered.reject(error)
        }
      )
      const late = new Promise<"late">((resolve) =>
        setTimeout(() => resolve("late"), this.#isUsable() ? answerMs : unusableMs)
      )
      const outcome = await Promise.race([answered.promise, late, this.#connected.promise, this.#closed.promise])
      if (outcome === "answered") return
      if (outcome === "closed") throw new Error("the connection was closed")
      if (this.#isUsable()) tried()
      this.#forgetTransport()
    }
  }

  async #call(payload: string): Promise<void> {
    const [agent] = this.#room.remoteParticipants.values()
    // What is sent during a reconnect may wait in the SDK's buffer and come late: harmless, its id is known by then.
    if (agent === undefined || !this.#isUsable()) throw new Error("not connected")
    await this.#room.localParticipant.performRpc({ destinationIdentity: agent.identity, method: clientTopic, payload })
  }

  /**
   * The SDK waits once for its data channel and keeps that promise, also when it waited for a connection that a full
   * reconnect has replaced since: then nothing is ever sent again. Without the promise it looks at the channel anew.
   */
  #forgetTransport(): void {
    Reflect.set(this.#room.engine, "publisherConnectionPromise", undefined)
  }

  /**
   * Whether there are transports to send over. `verifyTransport` is the SDK's own check, public in its types though not
   * documented.
   */
  #isUsable(): boolean {
    return this.#room.state === ConnectionState.Connected && this.#room.engine.verifyTransport()
  }
}
