// The draft as it is edited: the sections the editor knows, where an endpoint may carry a new secret.
import type { ReturnedSections } from "@parley/contract/AgentConfig/AgentConfig"

/** A webhook address as it is edited. */
export interface EditedEndpoint {
  readonly url: string
  readonly has_secret: boolean
  /** Typed now; undefined keeps the stored one. */
  readonly secret?: string
}

/** The choice of the language model as it is edited. */
export interface EditedLlm {
  readonly model: string | null
  readonly custom: {
    readonly base_url: string
    readonly model: string
    /** Typed now; null keeps the stored one as long as the address stays. */
    readonly api_key: string | null
  } | null
}

export type Draft = Omit<ReturnedSections, "webhooks" | "llm"> & {
  readonly webhooks: Omit<ReturnedSections["webhooks"], "post_call"> & {
    readonly post_call: ReadonlyArray<EditedEndpoint>
  }
  readonly llm: EditedLlm
}

/** What every part of the editor gets. */
export interface DraftProps {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
}

/** The sections that were touched since they were read: the others may be edited elsewhere meanwhile. */
export const touched = (draft: Draft, read: Draft): Partial<Draft> =>
  Object.fromEntries(Object.entries(draft).filter(([name, section]) => section !== read[name as keyof Draft]))
