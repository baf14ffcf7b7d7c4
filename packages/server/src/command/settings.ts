// `parley settings`: every setting, its default and what it means.
import { Command } from "effect/cli"
import { Effect } from "effect"
import { table } from "../config/settingsTable.ts"
import { printed } from "./printed.ts"

/** Reads no setting, so that it helps where one is wrong. */
export const settings = Command.make("settings", {}, () =>
  printed(Effect.succeed(table.map(([name, fallback, meaning]) => `${name}=${fallback}\n    ${meaning}`).join("\n")))
).pipe(Command.withDescription("Every setting, its default and what it means"))
