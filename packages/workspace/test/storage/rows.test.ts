import { describe, expect, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import { rowsOf } from "../../src/storage/rows.ts"

const read = rowsOf(
  "parcels",
  Schema.Struct({ id: Schema.String, weight: Schema.NullOr(Schema.Int), sent_at: Schema.Date })
)
const readOne = (row: unknown) => Effect.runSyncExit(read(Effect.succeed([row])))
const sent_at = new Date("2026-01-02T03:04:05Z")

describe("rowsOf", () => {
  it("gives the columns of the schema and drops the others", () => {
    expect(readOne({ id: "a", weight: null, sent_at, secret: "x" })).toEqual(
      Exit.succeed([{ id: "a", weight: null, sent_at }])
    )
  })

  it.each([
    ["id", { weight: 1, sent_at }],
    ["weight", { id: "a", weight: "heavy-secret", sent_at }],
    ["sent_at", { id: "a", weight: 1, sent_at: "heavy-secret" }]
  ])("dies on a row whose %s does not fit, and names the column but no value", (column, row) => {
    const exit = readOne(row)
    if (!Exit.isFailure(exit)) throw new Error("the row was taken")
    const message = String(Cause.squash(exit.cause))
    expect(Cause.hasDies(exit.cause)).toBe(true)
    expect(message).toBe(`Error: a row of parcels does not fit its schema at column ${column}`)
    expect(Cause.pretty(exit.cause)).not.toContain("heavy-secret")
  })
})
