// The inside of a pool's thread: seats by number, each made at its first question, answering one question after
// another, closed when its owner leaves. Effect is not loaded here: a thread starts in a tenth of a second.
import { parentPort } from "node:worker_threads"

export interface SeatHandler<Question, Answer> {
  readonly answer: (question: Question) => Promise<Answer> | Answer
  /** Frees everything. Called once, never while a question is being answered. */
  readonly close: () => void
}

/** Without a question: the owner left. */
export type SeatMessage =
  | { readonly seat: number; readonly call: number; readonly question: unknown }
  | { readonly seat: number }

export type SeatAnswer<Answer> =
  | { readonly call: number; readonly answer: Answer }
  | { readonly call: number; readonly threw: true }

/** `buffersOf`: what of an answer is given away instead of copied. */
export const serveSeats = <Question, Answer>(
  open: () => SeatHandler<Question, Answer>,
  buffersOf: (answer: Answer) => ReadonlyArray<ArrayBufferLike>
): void => {
  const port = parentPort
  if (port === null) throw new Error("serveSeats runs in a worker thread")
  const seats = new Map<number, { readonly handler: SeatHandler<Question, Answer>; last: Promise<void> }>()

  const reply = async (handler: SeatHandler<Question, Answer>, call: number, question: Question): Promise<void> => {
    try {
      const answer = await handler.answer(question)
      const buffers = buffersOf(answer).filter((buffer) => buffer instanceof ArrayBuffer)
      port.postMessage({ call, answer } satisfies SeatAnswer<Answer>, buffers)
    } catch {
      port.postMessage({ call, threw: true } satisfies SeatAnswer<Answer>)
    }
  }

  port.on("message", (message: SeatMessage) => {
    const known = seats.get(message.seat)
    if (!("call" in message)) {
      seats.delete(message.seat)
      if (known !== undefined) void known.last.then(known.handler.close)
      return
    }
    const seat = known ?? { handler: open(), last: Promise.resolve() }
    if (known === undefined) seats.set(message.seat, seat)
    seat.last = seat.last.then(() => reply(seat.handler, message.call, message.question as Question))
  })
}
