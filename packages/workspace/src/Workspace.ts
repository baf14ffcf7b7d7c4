// Every service of this room on one database.
import { Layer, type Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import { Agents } from "./Agents.ts"
import { ApiKeys } from "./ApiKeys.ts"
import { Attendance } from "./Attendance.ts"
import type { Platform } from "./Platform.ts"
import { Secrets } from "./Secrets.ts"
import { SessionLife } from "./SessionLife.ts"
import { Sessions } from "./Sessions.ts"
import type { Database, DataFolder } from "./storage/Database.ts"
import type { StartFault } from "./storage/StartFault.ts"
import { Versions } from "./Versions.ts"
import { Workspaces } from "./Workspaces.ts"

export const layer = (
  secretKey: Redacted.Redacted<string> | undefined
): Layer.Layer<
  Agents | ApiKeys | Secrets | SessionLife | Sessions | Versions | Workspaces,
  StartFault,
  Database | DataFolder | Platform | SqlClient.SqlClient
> =>
  Layer.mergeAll(
    Agents.layer,
    Versions.layer,
    Sessions.layer,
    SessionLife.layer.pipe(Layer.provide(Attendance.layer)),
    ApiKeys.layer
  ).pipe(Layer.provideMerge(Layer.mergeAll(Secrets.layer(secretKey), Workspaces.layer)))
