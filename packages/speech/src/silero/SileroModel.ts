// Silero VAD v6 at 16 kHz on onnxruntime. Each stream owns a recurrent state and the last 64 samples, which go
// before every window: without that context the model answers, but always "no voice".
import { readFileSync } from "node:fs"
import { InferenceSession, Tensor } from "onnxruntime-node"
import { windowSamples } from "../ports/VoiceActivity.ts"

/** Windows per run: the measured optimum, 0.06 ms each instead of 0.2. */
export const largestRun = 16

const contextSamples = 64
const stateSize = 128
const inputSamples = contextSamples + windowSamples

/** What the model remembers of one stream. */
export class StreamState {
  readonly context = new Float32Array(contextSamples)
  /** Two layers of 128. */
  readonly recurrent = new Float32Array(2 * stateSize)
}

/** The model, loaded. */
export class SileroModel {
  readonly #session: InferenceSession
  readonly #rate = new Tensor("int64", BigInt64Array.of(16000n), [])

  private constructor(session: InferenceSession) {
    this.#session = session
  }

  static async load(file: URL): Promise<SileroModel> {
    return new SileroModel(
      await InferenceSession.create(readFileSync(file), {
        executionProviders: ["cpu"],
        intraOpNumThreads: 1,
        interOpNumThreads: 1,
        executionMode: "sequential",
        extra: { session: { intra_op: { allow_spinning: "0" } } }
      })
    )
  }

  /**
   * One window for each of at most `largestRun` different streams; `windows` holds them one after another.
   * Blocks its thread while it computes.
   */
  async run(states: ReadonlyArray<StreamState>, windows: Int16Array): Promise<Float32Array> {
    const batch = states.length
    const input = new Float32Array(batch * inputSamples)
    const state = new Float32Array(2 * batch * stateSize)
    for (const [i, stream] of states.entries()) {
      input.set(stream.context, i * inputSamples)
      const at = i * inputSamples + contextSamples
      for (let k = 0; k < windowSamples; k++) input[at + k] = windows[i * windowSamples + k]! / 32768
      stream.context.set(input.subarray((i + 1) * inputSamples - contextSamples, (i + 1) * inputSamples))
      for (let layer = 0; layer < 2; layer++) {
        const part = stream.recurrent.subarray(layer * stateSize, (layer + 1) * stateSize)
        state.set(part, (layer * batch + i) * stateSize)
      }
    }
    const { output, stateN } = await this.#session.run({
      input: new Tensor("float32", input, [batch, inputSamples]),
      state: new Tensor("float32", state, [2, batch, stateSize]),
      sr: this.#rate
    })
    const next = stateN?.data as Float32Array
    for (const [i, stream] of states.entries()) {
      for (let layer = 0; layer < 2; layer++) {
        const at = (layer * batch + i) * stateSize
        stream.recurrent.set(next.subarray(at, at + stateSize), layer * stateSize)
      }
    }
    return output?.data as Float32Array
  }
}
