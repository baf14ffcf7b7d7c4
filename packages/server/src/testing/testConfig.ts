// A configuration for tests: any free port, no telephone, its own folder, the database of DATABASE_URL left alone.
import { Result } from "effect"
import { type Config, readConfig } from "../Config.ts"

export const testConfig = (data: string, env: Readonly<Record<string, string>> = {}): Config => {
  const config = readConfig({ PORT: "0", PARLEY_DATA: data, PARLEY_SIP_PORT: "off", ...env })
  if (Result.isFailure(config)) throw new Error(config.failure)
  return config.success
}
