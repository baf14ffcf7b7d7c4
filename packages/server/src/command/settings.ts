// `parley settings`: every setting, its default and what it means.
import { Command } from "effect/cli"
import { Effect } from "effect"
import { table } from "../config/settingsTable.ts"
import { said } from "./said.ts"

/** Reads no setting, so that it helps where one is wrong. */
export const settings = Command.make("settings", {}, () =>
  said(Effect.succeed(table.map(([name, fallback, meaning]) => `${name}=${fallback}\n    ${meaning}`).join("\n")))
).pipe(Command.withDescription("Every setting, its default and what it means"))
