// Where the recogniser's library and English model lie on this machine. The library's file name carries the
// version of its interface (.so.3, the "5prealpha" line that Debian ships); upstream 5.x has another one.
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"

/** Paths of the library and the model. */
export interface PocketSphinxInstallation {
  readonly library: string
  readonly baseLibrary: string
  /** Acoustic model folder, language model and dictionary. */
  readonly acousticModel: string
  readonly languageModel: string
  readonly dictionary: string
}

/** `undefined` when the library or the model is missing; on Debian: `apt-get install pocketsphinx pocketsphinx-en-us`. */
export const findPocketSphinx = (
  modelFolder = "/usr/share/pocketsphinx/model/en-us"
): PocketSphinxInstallation | undefined => {
  const found = {
    library: findLibrary("libpocketsphinx.so.3"),
    baseLibrary: findLibrary("libsphinxbase.so.3"),
    acousticModel: join(modelFolder, "en-us"),
    languageModel: join(modelFolder, "en-us.lm.bin"),
    dictionary: join(modelFolder, "cmudict-en-us.dict")
  }
  const { baseLibrary, library } = found
  if (library === undefined || baseLibrary === undefined) return undefined
  const files = [join(found.acousticModel, "mdef"), found.languageModel, found.dictionary]
  return files.every((file) => existsSync(file)) ? { ...found, library, baseLibrary } : undefined
}

const findLibrary = (name: string): string | undefined =>
  ["/usr/local/lib", "/usr/lib", ...multiarch("/usr/lib"), ...multiarch("/usr/local/lib")]
    .map((folder) => join(folder, name))
    .find((file) => existsSync(file))

const multiarch = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => name.endsWith("-linux-gnu") || name === "lib64")
        .map((name) => join(folder, name))
    : []
