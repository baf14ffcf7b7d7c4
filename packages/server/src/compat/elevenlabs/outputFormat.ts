// Names of formats in the ElevenLabs-compatible API, `codec_rate[_kbps]`, as fields of a request to the main API. MP3 is 32 or
// 44.1 kHz at 64, 128 or 192 kbit/s (a bit rate between them is rounded up), WAV and PCM 8 to 44.1 kHz, Opus 48 kHz. A known
// codec at a rate that is not offered (22.05 kHz) is refused later than a name that cannot be read at all.
import { Result } from "effect"

/** The fields of POST /v1/tts that a format stands for; rates in Hz, bit rates in kbit/s. */
export interface FormatFields {
  readonly format: "mp3" | "wav" | "pcm" | "opus"
  readonly sample_rate: number
  readonly mp3_bitrate?: 64 | 128 | 192
}

/** Why a format is refused. */
export interface FormatFault {
  /** Before the upgrade of a socket: a codec or a shape that is not offered at all. */
  readonly early: boolean
  readonly message: string
}

const rates: Readonly<Record<FormatFields["format"], ReadonlyArray<number>>> = {
  mp3: [32_000, 44_100],
  pcm: [8_000, 16_000, 24_000, 32_000, 44_100],
  wav: [8_000, 16_000, 24_000, 32_000, 44_100],
  opus: [48_000]
}

export const defaultFormat = "mp3_44100_128"

/** Reads a name such as `mp3_44100_128`. */
export const formatOf = (name: string): Result.Result<FormatFields, FormatFault> => {
  const [, codec = "", rate = "", kbps] = /^(mp3|[a-z]+)_(\d{4,5})(?:_(\d{1,3}))?$/.exec(name) ?? []
  if (codec === "ulaw" || codec === "alaw") return fault(true, `${codec} output is not supported`)
  if (!isCodec(codec) || (codec === "mp3" || codec === "opus") !== (kbps !== undefined)) {
    return fault(true, "output_format cannot be read")
  }
  const sampleRate = Number(rate)
  if (!rates[codec].includes(sampleRate)) return fault(false, `${codec} is not offered at ${sampleRate} Hz`)
  const fields = { format: codec, sample_rate: sampleRate }
  if (codec !== "mp3") return Result.succeed(fields)
  const tier = ([64, 128, 192] as const).find((one) => one >= Number(kbps))
  return tier === undefined
    ? fault(false, "mp3 is offered up to 192 kbit/s")
    : Result.succeed({ ...fields, mp3_bitrate: tier })
}

const isCodec = (codec: string): codec is FormatFields["format"] => codec in rates

const fault = (early: boolean, message: string): Result.Result<never, FormatFault> => Result.fail({ early, message })
