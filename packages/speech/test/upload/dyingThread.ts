// A thread of uploads that dies or hangs by the name of the file.
import { serveSlots } from "@parley/speech/workers/serveSlots"
import type { DecodeAnswer, DecodeQuestion } from "@parley/speech/upload/DecodeJob"

serveSlots<DecodeQuestion, DecodeAnswer>(
  () => ({
    answer: (question) => {
      if (question._tag !== "Open") return { _tag: "Block", samples: new Int16Array(100), isLast: true }
      if (question.file === "dies") process.exit(1)
      if (question.file === "hangs") for (;;);
      return { _tag: "Opened", container: "wav" }
    },
    close: () => {}
  }),
  () => []
)
