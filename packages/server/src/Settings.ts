// The configuration as a service.
import { Context } from "effect"
import type { Config } from "./Config.ts"

/** The configuration that the service was started with. */
export class Settings extends Context.Service<Settings, Config>()("@parley/server/Settings") {}
