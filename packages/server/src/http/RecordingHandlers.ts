// Recordings over HTTP: what is known of a session's, with signed addresses, and the sound behind such an address.
// The address is the key: it appears in no log and no span, and its answer must not be cached.
import { notFound } from "@parley/contract/Errors"
import { MainApi } from "@parley/contract/MainApi/MainApi"
import type { RecordingErrorCode, RecordingTrack, SessionRecording } from "@parley/contract/Recording"
import { RecordingLinks } from "@parley/workspace/recordings/RecordingLinks"
import { Recordings, type TrackRow } from "@parley/workspace/recordings/Recordings"
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { stat } from "node:fs/promises"
import { Settings } from "../Settings.ts"
import { byteRange } from "./byteRange.ts"
import { errorResponse } from "./ErrorEnvelope.ts"
import { httpUrl } from "./RtcUrl.ts"

export const layer = HttpApiBuilder.group(
  MainApi,
  "recordings",
  Effect.fnUntraced(function* (handlers) {
    const recordings = yield* Recordings
    const links = yield* RecordingLinks
    return handlers.handleRaw("getRecordingFile", ({ params }) =>
      Effect.gen(function* () {
        const path = yield* recordings.sound(yield* links.verify(params.file))
        const { size } = yield* Effect.tryPromise({ try: () => stat(path), catch: gone })
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        return yield* sound(path, size, headers["range"])
      })
    )
  })
)

const gone = () => notFound("Recording")

const sound = (path: string, size: number, rangeHeader: string | undefined) => {
  const range = byteRange(rangeHeader, size)
  const headers = {
    "accept-ranges": "bytes",
    "cache-control": "private, no-store",
    "x-content-type-options": "nosniff"
  }
  if (range._tag === "Unsatisfiable") {
    const refused = HttpServerResponse.setHeaders(errorResponse(416), {
      ...headers,
      "content-range": `bytes */${size}`
    })
    return Effect.succeed(refused)
  }
  const contentType = "audio/ogg"
  if (range._tag === "Whole") return Effect.orDie(HttpServerResponse.file(path, { contentType, headers }))
  const { length, offset } = range
  return Effect.orDie(
    HttpServerResponse.file(path, {
      status: 206,
      contentType,
      offset,
      bytesToRead: length,
      headers: { ...headers, "content-range": `bytes ${offset}-${offset + length - 1}/${size}` }
    })
  )
}

/** A session's recording as the API shows it, its addresses good for a while from now on. */
export const sessionRecording = Effect.gen(function* () {
  const recordings = yield* Recordings
  const links = yield* RecordingLinks
  const { publicUrl } = yield* Settings
  return Effect.fnUntraced(function* (workspace: string, sessionId: string) {
    const rows = yield* recordings.ofSession(workspace, sessionId)
    const base = yield* httpUrl(publicUrl)
    const tracks: Array<RecordingTrack> = []
    for (const row of rows) {
      const isHeard = row.status !== "active" && (row.duration_ms ?? 0) > 0
      const link = isHeard ? yield* links.sign(row.id) : undefined
      tracks.push({
        ...showTrack(row),
        url: link === undefined ? null : `${base}/v1/agent/recordings/${link.file}`,
        expires_at: link?.expiresAt.toISOString() ?? null
      })
    }
    return summary(sessionId, tracks)
  })
})

const summary = (sessionId: string, tracks: ReadonlyArray<RecordingTrack>): SessionRecording => {
  const failed = tracks.find((track) => track.status === "failed")
  const isOpen = tracks.some((track) => track.status === "active" || track.status === "requested")
  return {
    session_id: sessionId,
    status: isOpen ? "processing" : failed === undefined ? "complete" : "failed",
    tracks,
    error: failed?.error ?? null,
    error_code: failed?.error_code ?? null,
    error_message: failed?.error ?? null
  }
}

const showTrack = (row: TrackRow) => ({
  role: row.role,
  status: row.status,
  duration_ms: row.duration_ms,
  started_at: row.started_at.toISOString(),
  ended_at: row.ended_at?.toISOString() ?? null,
  error: row.error_code === null ? null : sentences[row.error_code],
  error_code: row.error_code
})

const sentences: Readonly<Record<RecordingErrorCode, string>> = {
  recorder_overloaded: "The recorder could not keep up with the call",
  recorder_lost: "The recorder stopped",
  storage_failed: "The recording could not be written to the disk",
  encoder_failed: "The sound could not be encoded",
  no_sound: "No sound was kept"
}
