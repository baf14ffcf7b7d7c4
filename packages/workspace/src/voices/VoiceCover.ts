// The picture of a voice model: kept as it came, under the type its first bytes show, whatever the sender called it.
// Only formats that hold no script.
import { type Invalid, invalid } from "@parley/contract/Errors"
import { fault } from "@parley/contract/Fault"
import { Effect } from "effect"
import { copyFile, open } from "node:fs/promises"
import type { Blobs } from "../storage/Blobs.ts"
import type { Cover } from "./VoiceModels.ts"

const mostBytes = 10 * 2 ** 20

/** Keeps the file at the path as a blob. */
export const keepCover = Effect.fnUntraced(function* (
  blobs: Blobs["Service"],
  file: string
): Effect.fn.Return<Cover, Invalid> {
  const { head, size } = yield* Effect.promise(() => peek(file))
  const type = imageTypeOf(head)
  if (type === undefined) return yield* refused("must be a PNG, JPEG, GIF or WebP image")
  if (size > mostBytes) return yield* refused(`must be at most ${mostBytes / 2 ** 20} MiB`)
  const { name } = yield* blobs.write("covers", (path) => Effect.promise(() => copyFile(file, path)))
  return { blob: name, type }
})

/** The MIME type by the first 16 bytes; undefined for anything but PNG, JPEG, GIF and WebP. */
const imageTypeOf = (head: Uint8Array): string | undefined => {
  const text = Buffer.from(head).toString("latin1")
  if (text.startsWith("\x89PNG\r\n\x1a\n")) return "image/png"
  if (text.startsWith("\xff\xd8\xff")) return "image/jpeg"
  if (text.startsWith("GIF87a") || text.startsWith("GIF89a")) return "image/gif"
  return text.startsWith("RIFF") && text.slice(8, 12) === "WEBP" ? "image/webp" : undefined
}

const refused = (message: string) => invalid([fault(["body", "cover_image"], message)])

const peek = async (file: string) => {
  const handle = await open(file, "r")
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(16), 0, 16, 0)
    return { head: buffer.subarray(0, bytesRead), size: (await handle.stat()).size }
  } finally {
    await handle.close()
  }
}
