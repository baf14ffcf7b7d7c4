// The tools that only a telephone call has: handing over, and pressing keys. Offered when the leg can do it and the plan
// says so; run like any other tool, so that they are in the history.
import { Effect } from "effect"
import type { CallPlan, PlannedTool, PlannedTransfer } from "../CallPlan.ts"
import type { Pacer } from "../playout/Pacer.ts"
import { ToolFailure } from "../ports/CallParts.ts"
import { transfer, type TransfersOptions } from "./Transfers.ts"

const transferTool = "transfer_call"
const digitsTool = "send_digits"

const builtin = { source: "builtin", mode: "blocking", errorHandling: "passthrough" } as const

/** Longer than any call: a transfer lasts as long as the people talk. */
const transferMs = 4 * 3_600_000

/** Those that the plan allows; the leg has to be a telephone. */
export const phoneToolsOf = ({ phone }: CallPlan): ReadonlyArray<PlannedTool> => [
  ...(phone !== undefined && phone.transfers.length > 0 ? [transferSpec(phone.transfers)] : []),
  ...(phone?.keypad === true ? [digitsSpec] : [])
]

const transferSpec = (transfers: ReadonlyArray<PlannedTransfer>): PlannedTool => ({
  ...builtin,
  timeoutMs: transferMs,
  spec: {
    name: transferTool,
    description: [
      "Hand the caller over to a person. Only when the caller asks for one, or your instructions say so. Announce it in one short sentence in the same answer.",
      ...transfers.map(({ description, label }) => [label, description].filter((part) => part !== "").join(": "))
    ].join("\n"),
    parameters: {
      type: "object",
      properties:
        transfers.length > 1
          ? { destination: { type: "string", enum: transfers.map(({ label }) => label) } }
          : ({} as Record<string, unknown>),
      required: transfers.length > 1 ? ["destination"] : [],
      additionalProperties: false
    }
  }
})

const digitsSpec: PlannedTool = {
  ...builtin,
  timeoutMs: 10_000,
  spec: {
    name: digitsTool,
    description: "Press keys on the telephone, for the menus of an automatic system: digits, * and #.",
    parameters: {
      type: "object",
      properties: { digits: { type: "string", pattern: "^[0-9*#]{1,32}$" } },
      required: ["digits"],
      additionalProperties: false
    }
  }
}

/** Undefined for tools of others. */
export const runPhoneTool = (
  tool: PlannedTool,
  args: Readonly<Record<string, unknown>>,
  options: TransfersOptions
): Effect.Effect<string, ToolFailure, Pacer> | undefined => {
  if (tool.source !== "builtin") return undefined
  if (tool.spec.name === digitsTool) return pressKeys(args["digits"], options)
  if (tool.spec.name !== transferTool) return undefined
  const wanted = typeof args["destination"] === "string" ? args["destination"].trim().toLowerCase() : ""
  const all = options.call.plan.phone?.transfers ?? []
  const to = all.length === 1 ? all[0] : all.find(({ label }) => label.trim().toLowerCase() === wanted)
  if (to === undefined) {
    const labels = all.map(({ label }) => label).join(", ")
    return Effect.fail(new ToolFailure({ message: `there is no such destination; it is one of: ${labels}` }))
  }
  return transfer(to, options)
}

const pressKeys = (digits: unknown, { leg }: TransfersOptions): Effect.Effect<string, ToolFailure> =>
  Effect.suspend(() => {
    if (leg.telephone === undefined || typeof digits !== "string" || !/^[0-9*#]{1,32}$/.test(digits)) {
      return Effect.fail(new ToolFailure({ message: "digits must be 1 to 32 of 0-9, * and #" }))
    }
    leg.telephone.sendDigits(digits)
    return Effect.succeed("The keys were pressed.")
  })
