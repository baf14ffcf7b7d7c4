// The inside of a thread of `WorkerSlots`: slots by number, each made at its first question, answering one question
// after another, closed when its owner leaves. Effect is not loaded here: a thread starts in a tenth of a second.
import { parentPort } from "node:worker_threads"
import { slotsReady } from "./slotMessages.ts"
import type { SlotAnswer, SlotMessage } from "./slotMessages.ts"

/** What one slot does with its questions. */
export interface SlotHandler<Question, Answer> {
  readonly answer: (question: Question) => Promise<Answer> | Answer
  /** Frees everything. Called once, never while a question is being answered. */
  readonly close: () => void
}

/** Called once by the thread's program. `buffersOf`: what of an answer is given away instead of copied. */
export const serveSlots = <Question, Answer>(
  open: () => SlotHandler<Question, Answer>,
  buffersOf: (answer: Answer) => ReadonlyArray<ArrayBufferLike>
): void => {
  const port = parentPort
  if (port === null) throw new Error("serveSlots runs in a worker thread")
  const slots = new Map<number, { readonly handler: SlotHandler<Question, Answer>; last: Promise<void> }>()

  const reply = async (handler: SlotHandler<Question, Answer>, call: number, question: Question): Promise<void> => {
    try {
      const answer = await handler.answer(question)
      const buffers = buffersOf(answer).filter((buffer) => buffer instanceof ArrayBuffer)
      port.postMessage({ call, answer } satisfies SlotAnswer<Answer>, buffers)
    } catch {
      port.postMessage({ call, threw: true } satisfies SlotAnswer<Answer>)
    }
  }

  port.on("message", (message: SlotMessage) => {
    const known = slots.get(message.slot)
    if (!("call" in message)) {
      slots.delete(message.slot)
      if (known !== undefined) void known.last.then(known.handler.close)
      return
    }
    const slot = known ?? { handler: open(), last: Promise.resolve() }
    if (known === undefined) slots.set(message.slot, slot)
    slot.last = slot.last.then(() => reply(slot.handler, message.call, message.question as Question))
  })
  port.postMessage(slotsReady)
}
