// The master key that secrets are sealed with: 32 bytes, from the setting or from a file that only the owner reads.
import { Effect } from "effect"
import { hkdfSync, randomBytes } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { StartFault } from "./StartFault.ts"

/** Any text of 16 characters or more; what is already 32 bytes in hex or base64 is taken as it is. */
export const expand = (given: string): Buffer => {
  if (/^[0-9a-f]{64}$/i.test(given)) return Buffer.from(given, "hex")
  const bytes = Buffer.from(given, "base64")
  return bytes.length === 32 ? bytes : Buffer.from(hkdfSync("sha256", given, "", "parley/given-key", 32))
}

/** The key of `secret-key` in the data folder, made when there is none. */
export const keyFile = (folder: string): Effect.Effect<Buffer, StartFault> =>
  Effect.try({
    try: () => {
      const path = join(folder, "secret-key")
      try {
        writeFileSync(path, randomBytes(32).toString("base64"), { mode: 0o600, flag: "wx" })
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
      }
      const key = Buffer.from(readFileSync(path, "utf8"), "base64")
      if (key.length !== 32) throw new Error("it does not hold 32 bytes")
      return key
    },
    catch: (error) =>
      new StartFault({ message: `Cannot use the key file secret-key in ${folder}: ${(error as Error).message}` })
  })
