// The workspace that a command works on: its flag, and its id.
import { firstWorkspace, Workspaces } from "@parley/workspace/identity/Workspaces"
import { StartFault } from "@parley/workspace/storage/StartFault"
import { Effect } from "effect"
import { Flag } from "effect/cli"

/** `--workspace NAME`; the first workspace when left out. */
export const workspaceFlag = Flag.String("workspace").pipe(
  Flag.withDescription("name of the account; the first one when left out"),
  Flag.withDefault(firstWorkspace)
)

/** The id of a workspace by its name; fails with StartFault when there is none. */
export const workspaceNamed = Effect.fnUntraced(function* (name: string) {
  const id = yield* (yield* Workspaces).find(name)
  return id ?? (yield* new StartFault({ message: `there is no workspace ${name}` }))
})
