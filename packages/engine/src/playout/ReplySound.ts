// What a reply hands to the player: its audio, its words, and which of them is which.
import type { Playout } from "./Playout.ts"
import type { SpokenText } from "./SpokenText.ts"

/** One reply as the player sees it. */
export interface ReplySound {
  readonly id: number
  readonly playout: Playout
  readonly spoken: SpokenText
  /** Answer to a typed message that asked for no audio. */
  readonly silent: boolean
}
