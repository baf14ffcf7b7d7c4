// What a command says, and whose account it is about.
import { firstWorkspace, Workspaces } from "@parley/workspace/identity/Workspaces"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Console, Effect } from "effect"
import { Flag } from "effect/cli"

/** `--workspace NAME`; the first one when left out. */
export const workspaceFlag = Flag.String("workspace").pipe(
  Flag.withDescription("name of the account; the first one when left out"),
  Flag.withDefault(firstWorkspace)
)

/** Prints what the work tells, a line or several; nothing when that is empty. */
export const said = <E, R>(work: Effect.Effect<string, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(work, (text) => (text === "" ? Effect.void : Console.log(text)))

/** The id of a workspace by its name; fails in one line when there is none. */
export const workspaceNamed = Effect.fnUntraced(function* (name: string) {
  const id = yield* (yield* Workspaces).find(name)
  return id ?? (yield* new StartFault({ message: `there is no workspace ${name}` }))
})
