// What goes to the voice activity thread and comes back: windows of many streams in one message, answered in
// the same order by one message.

/** One message to the thread; its buffers are transferred. */
export interface SileroBatch {
  /** The stream of each window. A stream may appear more than once; its windows are in order. */
  readonly streams: Uint32Array<ArrayBuffer>
  /** Windows of 512 samples, one after another. */
  readonly windows: Int16Array<ArrayBuffer>
  /** Streams that ended: their state is dropped before the windows are computed. */
  readonly closed: ReadonlyArray<number>
}

/** Probabilities in the order of the batch's windows. */
export interface SileroAnswer {
  readonly probabilities: Float32Array<ArrayBuffer>
}

export const threadReady = "ready"
