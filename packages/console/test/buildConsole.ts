// The console is served as it was built: what is under test must be this source.
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const script = fileURLToPath(new URL("../../../scripts/build-console.ts", import.meta.url))

/** Does nothing when the build is newer than every source. */
export const buildConsole = async (): Promise<void> => {
  await promisify(execFile)(process.execPath, [script])
}
