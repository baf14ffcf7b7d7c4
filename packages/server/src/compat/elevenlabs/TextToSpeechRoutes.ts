// POST /v1/text-to-speech/{voice_id} of the ElevenLabs-compatible API and its three variants (`/stream`, `/with-timestamps`,
// `/stream/with-timestamps`): audio as it is made, or JSON with the times of each character, whole or line by line.
import { contentTypeOf } from "@parley/audio/encode/OutputFormat"
import type { CharacterTimes } from "@parley/speech/synthesis/CharacterTimes"
import type { SynthesisEvent } from "@parley/speech/Synthesis"
import { Effect, Layer, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { randomUUID } from "node:crypto"
import { SpeechRequests } from "@parley/app/speech/SpeechRequests"
import { Settings } from "../../Settings.ts"
import { callerOf } from "./caller.ts"
import * as Characters from "./characterAlignment.ts"
import { withEnvelope } from "./Envelope.ts"
import { root } from "./root.ts"
import { synthesisInputOf } from "./textToSpeech.ts"
import { KeyCheck } from "../../http/KeyCheck.ts"

export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const speechRequests = yield* SpeechRequests
    const keys = yield* KeyCheck
    const { vendor } = yield* Settings

    const speak = Effect.fnUntraced(function* (timing: boolean) {
      const request = yield* HttpServerRequest.HttpServerRequest
      const caller = yield* callerOf(keys, request.headers["xi-api-key"])
      const { voice_id = "" } = yield* HttpRouter.params
      const { synthesis, text } = yield* synthesisInputOf(caller, voice_id, vendor, timing)
      return { format: synthesis.settings.format, events: yield* speechRequests.speak(synthesis, text) }
    })

    const sound = Effect.map(speak(false), ({ events, format }) =>
      HttpServerResponse.stream(soundOf(events), { contentType: contentTypeOf(format), headers: generation() })
    )

    const lines = Effect.map(speak(true), ({ events }) =>
      HttpServerResponse.stream(Stream.encodeText(linesOf(events)), {
        contentType: "application/x-ndjson",
        headers: generation()
      })
    )

    const whole = Effect.flatMap(speak(true), ({ events }) =>
      Effect.map(Stream.runCollect(aligned(events)), (all) =>
        HttpServerResponse.jsonUnsafe(joined(all), { headers: generation() })
      )
    )

    const path = `${root}/v1/text-to-speech/:voice_id` as const
    return Layer.mergeAll(
      HttpRouter.add("POST", path, withEnvelope(sound)),
      HttpRouter.add("POST", `${path}/stream`, withEnvelope(sound)),
      HttpRouter.add("POST", `${path}/with-timestamps`, withEnvelope(whole)),
      HttpRouter.add("POST", `${path}/stream/with-timestamps`, withEnvelope(lines))
    )
  })
)

const generation = () => ({ "x-generation-id": randomUUID() })

const soundOf = <E>(events: Stream.Stream<SynthesisEvent, E>) =>
  Stream.flatMap(events, (event) => (event._tag === "Audio" ? Stream.make(event.bytes) : Stream.empty))

const aligned = <E>(events: Stream.Stream<SynthesisEvent, E>): Stream.Stream<Characters.AlignedPiece, E> =>
  Stream.mapAccum(events, Characters.begin, Characters.step, { onHalt: (pending) => Characters.finish(pending) })

const linesOf = <E>(events: Stream.Stream<SynthesisEvent, E>): Stream.Stream<string, E> =>
  Stream.map(
    aligned(events),
    (one) => `${JSON.stringify(one._tag === "Sound" ? timed([one.bytes], null) : timed([], one.alignment))}\n`
  )

const joined = (all: ReadonlyArray<Characters.AlignedPiece>) => {
  const pieces = all.flatMap((one) => (one._tag === "Times" ? [one.alignment] : []))
  return timed(
    all.flatMap((one) => (one._tag === "Sound" ? [one.bytes] : [])),
    {
      characters: pieces.flatMap((piece) => piece.characters),
      startsMs: pieces.flatMap((piece) => piece.startsMs),
      endsMs: pieces.flatMap((piece) => piece.endsMs)
    }
  )
}

const timed = (sound: ReadonlyArray<Uint8Array>, alignment: CharacterTimes | null) => {
  const times = alignment === null ? null : Characters.inSeconds(alignment)
  return { audio_base64: Buffer.concat(sound).toString("base64"), alignment: times, normalized_alignment: times }
}
