// Sizes: of files, which over a limit must say why in their header and have a last limit, and of functions.
import type { Source } from "./sources.ts"

const mostLines = 500
const linesWithoutReason = 300
const functionLines = 100
const reason = /^\/\/ Long because /m

export const sizeFaults = (sources: ReadonlyArray<Source>): ReadonlyArray<string> =>
  sources.flatMap(({ functions, lines, path, text }) => [
    ...(lines > mostLines ? [`${path}: ${lines} lines (limit ${mostLines}): look for the second noun`] : []),
    ...(lines > linesWithoutReason && lines <= mostLines && !reason.test(headerOf(text))
      ? [`${path}: ${lines} lines: over ${linesWithoutReason} the header says why ("// Long because ...")`]
      : []),
    ...functions
      .filter((one) => one.lines > functionLines)
      .map((one) => `${path}:${one.line}: a function of ${one.lines} lines (limit ${functionLines})`)
  ])

const headerOf = (text: string): string => /^(?:\/\/.*\n)*/.exec(text)?.[0] ?? ""
