// The configuration as a service.
import { Context } from "effect"
import type { Config } from "./Config.ts"

export class Settings extends Context.Service<Settings, Config>()("@parley/server/Settings") {}
