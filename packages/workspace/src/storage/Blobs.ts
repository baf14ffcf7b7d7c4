// Bytes too large for the database, as files of the data folder. A blob is written under a temporary name, brought to
// the disk and renamed, so that it is whole or not there. Names are random and made here; a name that is not of that
// form reaches no file. What nobody refers to after a crash is swept away at the next start.
import { Context, Effect, Layer } from "effect"
import { randomBytes } from "node:crypto"
import { mkdir, open, readdir, rename, rm } from "node:fs/promises"
import { join } from "node:path"
import { DataFolder } from "./Database.ts"

/** What the blobs are for; each area is swept on its own. */
export type BlobArea = "voices" | "covers" | "samples" | "recordings"

/** Files of the data folder. */
export class Blobs extends Context.Service<
  Blobs,
  {
    /** `fill` writes the file at the path it is given; nothing stays when it fails. */
    readonly write: <A, E, R>(
      area: BlobArea,
      fill: (path: string) => Effect.Effect<A, E, R>
    ) => Effect.Effect<{ readonly name: string; readonly filled: A }, E, R>
    /** A name for bytes that are written at their place from the first one on, and count though the writer dies. */
    readonly fresh: (area: BlobArea) => string
    /** Where the bytes are, for whoever reads files. Dies on what is no name of a blob. */
    readonly path: (name: string) => string
    /** Removing what is not there is no fault. */
    readonly remove: (names: ReadonlyArray<string>) => Effect.Effect<void>
    /** Removes what is in the area and not among these. Only for the start: a blob being written has no row yet. */
    readonly sweep: (area: BlobArea, kept: ReadonlySet<string>) => Effect.Effect<number>
  }
>()("@parley/workspace/Blobs") {
  static readonly layer: Layer.Layer<Blobs, never, DataFolder> = Layer.effect(
    Blobs,
    Effect.gen(function* () {
      const folder = yield* DataFolder
      const root = join(folder.path, "blobs")
      const incoming = join(root, "incoming")
      yield* Effect.promise(async () => {
        await rm(incoming, { recursive: true, force: true })
        await mkdir(incoming, { recursive: true, mode: 0o700 })
        for (const area of areas) await mkdir(join(root, area), { recursive: true, mode: 0o700 })
      })

      const path = (name: string): string => {
        if (!form.test(name)) throw new Error("not the name of a blob")
        return join(root, name)
      }

      return {
        path,

        fresh: nameIn,

        write: <A, E, R>(area: BlobArea, fill: (path: string) => Effect.Effect<A, E, R>) =>
          Effect.gen(function* () {
            const name = nameIn(area)
            const temporary = join(incoming, name.slice(area.length + 1))
            const filled = yield* fill(temporary).pipe(
              Effect.tap(() => Effect.promise(() => settle(temporary, path(name), join(root, area)))),
              Effect.onExit((exit) =>
                exit._tag === "Success" ? Effect.void : Effect.promise(() => rm(temporary, { force: true }))
              )
            )
            return { name, filled }
          }),

        remove: (names) =>
          Effect.promise(async () => {
            for (const name of names) await rm(path(name), { force: true })
          }),

        sweep: Effect.fn("Blobs.sweep")((area, kept) =>
          Effect.promise(async () => {
            const found = (await readdir(join(root, area))).map((file) => `${area}/${file}`)
            const orphans = found.filter((name) => !kept.has(name))
            for (const name of orphans) await rm(join(root, name), { force: true, recursive: true })
            return orphans.length
          })
        )
      }
    })
  )
}

const areas: ReadonlyArray<BlobArea> = ["voices", "covers", "samples", "recordings"]
const form = /^(voices|covers|samples|recordings)\/[0-9a-f]{32}$/

const nameIn = (area: BlobArea): string => `${area}/${randomBytes(16).toString("hex")}`

/** The bytes first, then the name, then the folder that holds the name. */
const settle = async (temporary: string, path: string, folder: string): Promise<void> => {
  await sync(temporary)
  await rename(temporary, path)
  await sync(folder)
}

const sync = async (path: string): Promise<void> => {
  const file = await open(path, "r")
  try {
    await file.sync()
  } finally {
    await file.close()
  }
}
