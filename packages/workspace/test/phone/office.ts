// A workspace of its own with a published agent, on a real database.
import { Effect, Layer } from "effect"
import { Agents } from "../../src/agents/Agents.ts"
import { newId } from "../../src/storage/Id.ts"
import type { NewPhoneCall } from "../../src/phone/PhoneCalls.ts"
import { Platform } from "../../src/Platform.ts"
import { LocalInventory, type StockedNumber } from "../../src/phone/LocalInventory.ts"
import * as TestDatabase from "../../src/testing/TestDatabase.ts"
import { Versions } from "../../src/agents/Versions.ts"
import * as Workspace from "../../src/Workspace.ts"
import { Workspaces } from "../../src/identity/Workspaces.ts"

const platform = Layer.succeed(Platform, {
  voices: new Set<string>(),
  asrModels: ["vendor:transcribe-1"],
  llmModels: ["demo"],
  allowedPrivate: ["127.0.0.1"],
  cloning: false,
  trialBalance: 5_000_000_000n
})

export const live = LocalInventory.layer.pipe(
  Layer.provideMerge(Workspace.layer(undefined)),
  Layer.provideMerge(Layer.mergeAll(platform, TestDatabase.layer))
)

export const office = Effect.fnUntraced(function* (postCall: ReadonlyArray<{ readonly url: string }> = []) {
  const ws = yield* (yield* Workspaces).ensure(newId("office"))
  const versions = yield* Versions
  const agent = yield* (yield* Agents).create(ws, {
    name: "Ada",
    config: { webhooks: { conversation_init: null, post_call: postCall } }
  })
  yield* versions.publish(ws, agent.agent_id, {})
  const runnable = yield* versions.live(ws, agent.agent_id)
  const call = (direction: "inbound" | "outbound"): NewPhoneCall => ({
    workspaceId: ws,
    runnable,
    direction,
    callerNumber: "+14155550100",
    dialedNumber: "+14155550199",
    sipCallId: direction === "inbound" ? "abc@peer" : "",
    name: "",
    timezone: "UTC",
    endUserId: "",
    metadata: { order: 7 },
    input: { overrides: {}, dynamicVariables: {}, worldContext: true, toolEvents: true, recordAudio: false },
    maxDurationSeconds: 60
  })
  return { ws, agentId: agent.agent_id, call }
})

let next = 1000

/** One that no other test has. */
export const freshNumber = (): string => `+1415555${next++}`

export const stocked = (phoneNumber: string, more: Partial<StockedNumber> = {}): StockedNumber => ({
  phoneNumber,
  friendlyName: "(415) 555",
  locality: "San Francisco",
  region: "CA",
  countryCode: "US",
  trunk: {
    inbound: null,
    allowedAddresses: ["203.0.113.0/24"],
    uri: "sip.carrier.example",
    transport: "auto",
    termination: null,
    headers: {}
  },
  originalCaller: false,
  ...more
})
