// Live captions of both sides; what is still being said is lighter.
import { useEffect, useRef } from "preact/hooks"

/** One utterance of either side, as far as it is known. */
export interface Caption {
  readonly id: string
  readonly who: "user" | "agent"
  readonly text: string
  readonly final: boolean
}

/** The utterances in order; the last one is kept in view. */
export const Captions = ({ captions }: { readonly captions: ReadonlyArray<Caption> }) => {
  const end = useRef<HTMLLIElement>(null)
  useEffect(() => end.current?.scrollIntoView({ block: "nearest" }), [captions])
  return (
    <ol class="captions" aria-live="polite" aria-label="Captions">
      {captions.map((caption) => (
        <li key={caption.id} class={`${caption.who} ${caption.final ? "final" : "live"}`}>
          <span class="who">{caption.who === "user" ? "You" : "Agent"}</span> {caption.text}
        </li>
      ))}
      <li ref={end} class="end" aria-hidden="true" />
    </ol>
  )
}

/** The caption with this id is new or changes; others stay. */
export const withCaption = (captions: ReadonlyArray<Caption>, changed: Caption): ReadonlyArray<Caption> =>
  captions.some((caption) => caption.id === changed.id)
    ? captions.map((caption) => (caption.id === changed.id ? changed : caption))
    : [...captions, changed]
