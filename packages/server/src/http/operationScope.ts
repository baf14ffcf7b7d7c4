// Which scope a key needs for each operation of the main API: `read` for GET, and for the rest what its group is about. The
// table has every group of the contract, or this file does not compile.
import type { KeyScope } from "@parley/contract/ApiKey"
import type { MainApi } from "@parley/contract/MainApi/MainApi"
import type { HttpApi, HttpApiGroup } from "effect/http-api"

type Groups = typeof MainApi extends HttpApi.HttpApi<infer _Id, infer All> ? All : never
/** Those that ask for a key. */
type GroupName = Exclude<HttpApiGroup.Identifier<Groups>, "system" | "recordings">
type OperationName = HttpApiGroup.Endpoints<Groups>["identifier"]

/** For everything of the group that is no GET. */
const writes: { readonly [G in GroupName]: KeyScope } = {
  agents: "manage",
  agentTests: "manage",
  sessionStart: "call",
  sessions: "call",
  tools: "manage",
  mcpServers: "manage",
  knowledgeSources: "manage",
  phoneNumbers: "manage",
  phoneCalls: "call",
  speech: "speak",
  models: "manage",
  wallet: "manage",
  webhooks: "manage",
  keys: "manage",
  auditLog: "manage",
  endUsers: "manage"
}

/** Operations that need another scope than their group and method say. */
const otherwise: { readonly [O in OperationName]?: KeyScope } = {
  createPreviewSession: "call",
  analyseSessionAgain: "manage",
  eraseSession: "manage",
  listKeys: "manage"
}

/** The scope for an operation. @param group and endpoint as the contract names them */
export const operationScope = (
  { identifier: group }: { readonly identifier: string },
  { identifier, method }: { readonly identifier: string; readonly method: string }
): KeyScope => otherwise[identifier as OperationName] ?? (method === "GET" ? "read" : writes[group as GroupName])
