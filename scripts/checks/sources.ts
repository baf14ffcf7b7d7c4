// Every source file of the rooms, parsed once: what it imports and exports, its functions and their docstrings.
import { type Node, parseSync, Visitor } from "oxc-parser"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { dirname, join, normalize, relative } from "node:path"

export interface Import {
  /** As written. */
  readonly from: string
  /** The file it leads to, from the repository's root; undefined for packages of others. */
  readonly file: string | undefined
  /** `*` for the whole module, also when its names are passed on. */
  readonly names: ReadonlyArray<{ readonly name: string; readonly local: string }>
  readonly erased: boolean
}

export interface Export {
  readonly name: string
  readonly erased: boolean
  /** Functions, classes and interfaces, which want a docstring. */
  readonly wantsDocs: boolean
  readonly documented: boolean
}

export interface SourceFunction {
  readonly name: string
  readonly line: number
  readonly lines: number
}

export interface Source {
  /** From the repository's root. */
  readonly path: string
  readonly room: string
  readonly text: string
  readonly lines: number
  readonly imports: ReadonlyArray<Import>
  readonly exports: ReadonlyArray<Export>
  readonly functions: ReadonlyArray<SourceFunction>
}

const skipped = new Set(["node_modules", "dist", "results"])

/** All `.ts` and `.tsx` files below a folder, from the root. */
export const filesBelow = (root: string, folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return skipped.has(entry.name) ? [] : filesBelow(root, path)
    return /\.tsx?$/.test(entry.name) && !entry.name.endsWith(".d.ts") ? [path] : []
  })

export const readSource = (root: string, path: string): Source => {
  const text = readFileSync(join(root, path), "utf8")
  const parsed = parseSync(path, text)
  const lineOf = lineFinder(text)
  const functions: Array<SourceFunction> = []
  const note = (node: Node, name: string): void => {
    const line = lineOf(node.start)
    functions.push({ name, line, lines: lineOf(node.end) - line + 1 })
  }
  new Visitor({
    FunctionDeclaration: (node) => note(node, node.id?.name ?? "default"),
    FunctionExpression: (node) => note(node, node.id?.name ?? "function"),
    ArrowFunctionExpression: (node) => note(node, "arrow")
  }).visit(parsed.program)
  const docs = parsed.comments.filter(({ type, value }) => type === "Block" && value.startsWith("*"))
  const ends = new Set(docs.map(({ end }) => text.slice(end).search(/\S/) + end))
  const kinds = kindsOf(parsed.program.body)
  const exported = parsed.module.staticExports.flatMap(({ entries, start }) =>
    entries.map((entry): Export => {
      const name = entry.exportName.name ?? "default"
      return {
        name,
        erased: entry.isType,
        wantsDocs: kinds.get(name) === "documentable",
        documented: ends.has(start)
      }
    })
  )
  return {
    path,
    room: path.split("/")[1] ?? "",
    text,
    lines: text.split("\n").length - 1,
    imports: importsOf(root, path, text, parsed.module),
    exports: exported,
    functions
  }
}

type Module = ReturnType<typeof parseSync>["module"]

const importsOf = (root: string, path: string, text: string, module: Module): ReadonlyArray<Import> => {
  const made = (from: string, names: Import["names"], erased: boolean): Import => ({
    from,
    file: fileOf(root, path, from),
    names,
    erased
  })
  return [
    ...module.staticImports.map(({ entries, moduleRequest }) =>
      made(
        moduleRequest.value,
        entries.map(({ importName, localName }) => ({
          name: importName.kind === "Name" ? (importName.name ?? "") : importName.kind === "Default" ? "default" : "*",
          local: localName.value
        })),
        entries.length > 0 && entries.every(({ isType }) => isType)
      )
    ),
    ...module.staticExports.flatMap(({ entries }) =>
      entries.flatMap(({ importName, isType, moduleRequest }) => {
        if (moduleRequest === null) return []
        const name = importName.kind === "Name" ? (importName.name ?? "*") : "*"
        return [made(moduleRequest.value, [{ name, local: "" }], isType)]
      })
    ),
    // Also a worker's program named by its address.
    ...[...text.matchAll(/(?:\bimport\(|new URL\()\s*["'](\.{1,2}\/[^"']+\.tsx?|@parley\/[^"']+)["']/g)].map((m) =>
      made(m[1] ?? "", [{ name: "*", local: "" }], false)
    )
  ]
}

/** Where an import of ours leads; other rooms are reached by `@parley/<room>/<path>`. */
const fileOf = (root: string, path: string, from: string): string | undefined => {
  const own = /^@parley\/([^/]+)\/(.+)$/.exec(from)
  const target = from.startsWith(".")
    ? relative(root, normalize(join(root, dirname(path), from)))
    : own === null
      ? undefined
      : `packages/${own[1]}/src/${own[2]}.ts`
  if (target === undefined || statSync(join(root, target), { throwIfNoEntry: false })?.isFile()) return target
  return statSync(join(root, `${target}x`), { throwIfNoEntry: false })?.isFile() ? `${target}x` : target
}

/** What is declared at the top: functions, classes and interfaces want a docstring; values and type aliases may have one. */
const kindsOf = (body: ReadonlyArray<Node>): ReadonlyMap<string, "documentable" | "value"> => {
  const kinds = new Map<string, "documentable" | "value">()
  for (const statement of body) {
    const node = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
    if (node === null) continue
    if (node.type === "VariableDeclaration") {
      for (const { id, init } of node.declarations) {
        if (id.type === "Identifier") kinds.set(id.name, isFunction(init) ? "documentable" : "value")
      }
    } else if (node.type === "FunctionDeclaration" || node.type === "ClassDeclaration") {
      if (node.id) kinds.set(node.id.name, "documentable")
    } else if (node.type === "TSInterfaceDeclaration") {
      kinds.set(node.id.name, "documentable")
    }
  }
  return kinds
}

/** A function, or what `Effect.fn` makes of one. */
const isFunction = (init: Node | null): boolean => {
  if (init === null) return false
  if (init.type === "ArrowFunctionExpression" || init.type === "FunctionExpression") return true
  if (init.type !== "CallExpression") return false
  const { callee } = init
  if (callee.type === "CallExpression") return isFunction(callee) || isEffectFn(callee.callee)
  return isEffectFn(callee)
}

const isEffectFn = (node: Node): boolean =>
  node.type === "MemberExpression" && node.property.type === "Identifier" && /^fn(Untraced)?$/.test(node.property.name)

const lineFinder = (text: string) => {
  const starts = [0]
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) starts.push(at + 1)
  return (offset: number): number => {
    let [low, high] = [0, starts.length]
    while (high - low > 1) {
      const middle = (low + high) >> 1
      if ((starts[middle] ?? 0) <= offset) low = middle
      else high = middle
    }
    return low + 1
  }
}
