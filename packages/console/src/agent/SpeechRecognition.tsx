// Speech recognition: key terms, and whether callers speak more than one language.
import { useState } from "preact/hooks"
import type { DraftProps } from "./draft.ts"

/** The settings of speech recognition. */
export const SpeechRecognition = ({ change, draft }: DraftProps) => {
  const { asr } = draft
  // As it is typed: an empty line at the end is no term, and must not vanish under the person's hand.
  const [typed, setTyped] = useState(asr.keyterms.join("\n"))
  return (
    <>
      <h3>Speech recognition</h3>
      <label for="keyterms">Key terms, one per line</label>
      <textarea
        id="keyterms"
        rows={3}
        placeholder={"Parley\nDr. Okonkwo"}
        value={typed}
        onInput={({ currentTarget: { value } }) => {
          setTyped(value)
          change({ asr: { ...asr, keyterms: linesOf(value) } })
        }}
      />
      <label class="check">
        <input
          type="checkbox"
          checked={asr.multilingual}
          onChange={(event) => change({ asr: { ...asr, multilingual: event.currentTarget.checked } })}
        />
        Callers may speak other languages, too
      </label>
    </>
  )
}

const linesOf = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "")
