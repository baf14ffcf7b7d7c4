// A thread of encoders that dies at 666 Hz and hangs at 667 Hz.
import { serveSlots } from "@parley/speech/workers/serveSlots"
import type { EncoderAnswer, EncoderJob } from "@parley/speech/encoding/EncoderJob"

serveSlots<EncoderJob, EncoderAnswer>(
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
