// The thread of uploads: decodes files and listens to voices, a block per question.
import { DecodeFault } from "@parley/audio/decode/AudioDecoder"
import { VoiceListener } from "@parley/audio/voice/VoiceListener"
import { serveSlots } from "../workers/serveSlots.ts"
import type { SlotHandler } from "../workers/serveSlots.ts"
import type { DecodeAnswer, DecodeQuestion } from "./DecodeJob.ts"
import { FileDecoding } from "./FileDecoding.ts"

class UploadSlot implements SlotHandler<DecodeQuestion, DecodeAnswer> {
  #decoding: FileDecoding | undefined
  #listener: VoiceListener | undefined

  readonly answer = async (question: DecodeQuestion): Promise<DecodeAnswer> => {
    try {
      return await this.#answer(question)
    } catch (error) {
      if (error instanceof DecodeFault) return { _tag: "Fault", reason: error.reason, message: error.message }
      return { _tag: "Fault", reason: "Damaged", message: "the recording is damaged" }
    }
  }

  readonly close = (): void => this.#decoding?.close()

  async #answer(question: DecodeQuestion): Promise<DecodeAnswer> {
    switch (question._tag) {
      case "Open":
        this.#decoding = new FileDecoding(question.file, question.sampleRate)
        return { _tag: "Opened", container: this.#decoding.container }
      case "Next": {
        if (this.#decoding === undefined) throw new Error("nothing is open")
        return { _tag: "Block", ...(await this.#decoding.next()) }
      }
      case "Analyse":
        this.#listener ??= new VoiceListener()
        this.#listener.hear(question.samples)
        return { _tag: "Analysed" }
      case "Report":
        return { _tag: "Reported", report: (this.#listener ?? new VoiceListener()).report() }
    }
  }
}

// Codecs complain there about every damaged frame; the fault is the answer.
console.error = () => {}

serveSlots<DecodeQuestion, DecodeAnswer>(
  () => new UploadSlot(),
  (answer) => (answer._tag === "Block" ? [answer.samples.buffer] : [])
)
