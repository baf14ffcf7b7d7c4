// What a command of the operator's says when it is given these words, as its parser reads them.
import { NodeServices } from "@effect/platform-node"
import { Console, Effect } from "effect"
import { Command } from "effect/cli"

/** The printed lines; fails as the command does. Help and complaints of the parser are dropped. */
export const commandOutput = <Name extends string, Input, ContextInput, E, R>(
  command: Command.Command<Name, Input, ContextInput, E, R>,
  words: ReadonlyArray<string>
) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const quiet: Console.Console = { ...console, log: (text: string) => void lines.push(text), error: () => undefined }
    yield* Effect.provideService(Command.runWith(command, { version: "test" })(words), Console.Console, quiet)
    return lines.join("\n")
  }).pipe(Effect.provide(NodeServices.layer))
