// An uploaded file, validated: Markdown or plain text, UTF-8, with something in it. Pure.
import { Result } from "effect"

/** A file that can become a revision. */
export interface KnowledgeDocument {
  readonly fileName: string
  /** Of the file, byte order mark included. */
  readonly sizeBytes: number
  readonly content: string
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Fails with what is wrong with it. Senders may name a file by its whole path. */
export const readDocument = (sentName: string, bytes: Uint8Array): Result.Result<KnowledgeDocument, string> => {
  const fileName = (sentName.split(/[/\\]/).at(-1) ?? "").replaceAll("\0", "").toWellFormed().trim()
  if (!/\.(md|txt)$/i.test(fileName)) return Result.fail("source must be an .md or .txt file")
  if (fileName.length > 255) return Result.fail("source must have a name of at most 255 characters")
  let content: string
  try {
    content = utf8.decode(bytes)
  } catch {
    return Result.fail("source must be UTF-8 text")
  }
  if (content.includes("\0")) return Result.fail("source must be text without NUL characters")
  if (content.trim() === "") return Result.fail("source must not be empty")
  return Result.succeed({ fileName, sizeBytes: bytes.length, content })
}
