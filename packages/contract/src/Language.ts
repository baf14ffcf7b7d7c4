// A language a configuration may name.
import { Schema } from "effect"
import { languageCodes } from "./languageCodes.ts"

/** A code of `languageCodes`. */
export const Language = Schema.Literals(languageCodes)
export type Language = typeof Language.Type
