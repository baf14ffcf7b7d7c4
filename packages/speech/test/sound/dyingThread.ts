// A thread of sound lines that dies at 666 Hz and hangs at 667 Hz.
import { serveSlots } from "@parley/speech/workers/serveSlots"
import type { LineAnswer, LineQuestion } from "@parley/speech/sound/LineJob"

serveSlots<LineQuestion, LineAnswer>(
  () => ({
    answer: (question) => {
      if (question._tag === "Write" && question.sampleRate === 666) process.exit(1)
      if (question._tag === "Write" && question.sampleRate === 667) for (;;);
      return { _tag: "Bytes", bytes: new Uint8Array(1), samples: 0 }
    },
    close: () => {}
  }),
  () => []
)
