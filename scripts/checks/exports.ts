// Exports that nobody imports, and how many of those that want a docstring have one.
import type { Source } from "./sources.ts"

/** Used from outside: programs, what tests are given, and the contract, whose words are for clients too. */
const entries = /(\/testing\/|\/src\/main\.ts$|\/src\/command\.ts$|^packages\/contract\/)/

/** Values that no other file imports; tests do not count. `others`: files outside the rooms that may use them. */
export const unusedExports = (sources: ReadonlyArray<Source>, others: ReadonlyArray<Source>): ReadonlyArray<string> => {
  const used = new Set<string>()
  for (const { imports, text } of [...sources, ...others]) {
    for (const { file, names } of imports) {
      if (file === undefined) continue
      for (const { local, name } of names) {
        if (name !== "*") used.add(`${file} ${name}`)
        else if (local === "") used.add(`${file} *`)
        else for (const member of membersOf(text, local)) used.add(`${file} ${member}`)
      }
    }
  }
  return sources.flatMap(({ exports, path }) =>
    entries.test(path) || used.has(`${path} *`)
      ? []
      : exports
          .filter(({ erased, name }) => !erased && !used.has(`${path} ${name}`))
          .map(({ name }) => `${path}: nobody imports ${name}`)
  )
}

/** Of a module that is imported as a whole. One that is passed on by its name counts as used altogether. */
const membersOf = (text: string, local: string): ReadonlyArray<string> =>
  [...text.matchAll(new RegExp(`\\b${local}\\.(\\w+)`, "g"))].map((m) => m[1] ?? "")

export interface DocumentedShare {
  readonly room: string
  readonly documented: number
  readonly wanted: number
}

export const documentedShares = (sources: ReadonlyArray<Source>): ReadonlyArray<DocumentedShare> => {
  const rooms = new Map<string, { documented: number; wanted: number }>()
  for (const { exports, path, room } of sources) {
    if (path.includes("/testing/")) continue
    const share = rooms.get(room) ?? { documented: 0, wanted: 0 }
    rooms.set(room, share)
    for (const { documented, wantsDocs } of exports) {
      if (!wantsDocs) continue
      share.wanted++
      if (documented) share.documented++
    }
  }
  return [...rooms].map(([room, { documented, wanted }]) => ({ room, documented, wanted }))
}
