// Both sides of a recorded call, to be played together or alone. A call that was not recorded shows nothing.
import { type ParleyClient, ParleyError } from "@parley/client/ParleyClient"
import type { SessionRecording } from "@parley/contract/Recording"
import { useRef } from "preact/hooks"
import { formatDuration } from "../format.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"

/** The recording of a call, by its session id; nothing where there is none. */
export const RecordingView = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const { problem, value } = useLoaded(() => recordingOf(client, id), [id])
  const list = useRef<HTMLUListElement>(null)
  const playAll = (): void => {
    for (const audio of list.current?.querySelectorAll("audio") ?? []) {
      audio.currentTime = 0
      void audio.play()
    }
  }
  const tracks = (value?.tracks ?? []).filter((track) => track.url !== null)
  if (problem !== "") return <Notice problem={problem} />
  if (value === null) return null
  return (
    <section aria-label="Recording">
      <h3>Recording</h3>
      {value.status === "processing" && <p class="hint">Processing ...</p>}
      {value.status === "failed" && <p class="hint">Recording failed: {value.error_message ?? value.error}.</p>}
      <ul class="tracks" ref={list}>
        {tracks.map((track) => (
          <li key={track.role}>
            <b>{track.role}</b>
            <audio controls preload="none" src={track.url ?? ""} />
            <small>{track.duration_ms === null ? "" : formatDuration(track.duration_ms / 1000)}</small>
          </li>
        ))}
      </ul>
      {tracks.length > 1 && (
        <button type="button" onClick={playAll}>
          Play both
        </button>
      )}
    </section>
  )
}

/** Null where nothing was recorded. */
const recordingOf = (client: ParleyClient, id: string): Promise<SessionRecording | null> =>
  client.sessions.recording(id).catch((error: unknown) => {
    if (error instanceof ParleyError && error.status === 404) return null
    throw error
  })
