// The voice of the agent: which one, its language, its speed.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { languageCodes } from "@parley/contract/languageCodes"
import { useLoaded } from "../loaded.ts"
import type { DraftProps } from "./draft.ts"

interface Props extends DraftProps {
  readonly client: ParleyClient
  /** Of the engines. */
  readonly voices: ReadonlyArray<string>
}

/** The voice of the agent: those of the engines and those of the workspace. */
export const VoiceChoice = ({ change, client, draft, voices }: Props) => {
  const { voice } = draft
  const own = useLoaded(() => client.voices.list({ self: "true", page_size: 100 }), [])
  const models = own.value?.items ?? []
  const ids = [...new Set([...voices, ...models.map((model) => model._id), voice.voice_id])].filter((id) => id !== "")
  return (
    <>
      <h3>Voice</h3>
      <div class="pair">
        <div>
          <label for="voice">Voice</label>
          <select
            id="voice"
            value={voice.voice_id}
            onChange={(event) => change({ voice: { ...voice, voice_id: event.currentTarget.value } })}
          >
            <option value="">Default</option>
            {ids.map((id) => (
              <option key={id} value={id}>
                {models.find((model) => model._id === id)?.title ?? id}
              </option>
            ))}
          </select>
        </div>
        <div>
          <label for="language">Spoken language</label>
          <select
            id="language"
            value={voice.speaking_language}
            onChange={({ currentTarget: { value } }) =>
              change({
                voice: {
                  ...voice,
                  speaking_language: languageCodes.find((code) => code === value) ?? voice.speaking_language
                }
              })
            }
          >
            {languageCodes.map((code) => (
              <option key={code} value={code}>
                {languageNames.of(code) ?? code}
              </option>
            ))}
          </select>
        </div>
      </div>
      <label for="speed">Speed {voice.speed.toFixed(2)}</label>
      <input
        id="speed"
        type="range"
        min="0.5"
        max="2"
        step="0.05"
        value={voice.speed}
        onInput={(event) => change({ voice: { ...voice, speed: Number(event.currentTarget.value) } })}
      />
    </>
  )
}

const languageNames = new Intl.DisplayNames(["en"], { type: "language" })
