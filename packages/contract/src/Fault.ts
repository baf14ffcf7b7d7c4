// What is wrong with which field: the entries of a 422 body's `errors`. Built from a schema issue
// or by hand; names fields, never quotes values.
import { Schema, SchemaIssue } from "effect"

/** One field that is wrong. */
export const Fault = Schema.Struct({
  /** Where: `body`, `query` or `path`, then keys and indices. */
  loc: Schema.Array(Schema.Union([Schema.String, Schema.Number])),
  msg: Schema.String,
  /** `missing`, `extra_forbidden`, `type_error` or `value_error`. */
  type: Schema.String
})
export type Fault = typeof Fault.Type

/** @param type as of the API's error types; `value_error` when left out */
export const fault = (loc: ReadonlyArray<string | number>, msg: string, type = "value_error"): Fault => ({
  loc,
  msg,
  type
})

const typeOf = (issue: SchemaIssue.Issue): string => {
  if (issue._tag === "MissingKey") return "missing"
  if (issue._tag === "UnexpectedKey") return "extra_forbidden"
  return issue._tag === "InvalidType" || issue._tag === "AnyOf" ? "type_error" : "value_error"
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()

const messageOf = (issue: SchemaIssue.Issue): string => {
  if (issue._tag === "MissingKey") return "field required"
  if (issue._tag === "UnexpectedKey") return "unknown field"
  return format(issue).issues[0]?.message.split("\n")[0] ?? "invalid value"
}

/** The leaves of an issue tree, each with its whole path below `root`. */
export const faultsOf = (issue: SchemaIssue.Issue, root: string): ReadonlyArray<Fault> => {
  const leaves: Array<Fault> = []
  const walk = (node: SchemaIssue.Issue, path: ReadonlyArray<string | number>): void => {
    switch (node._tag) {
      case "Pointer":
        return walk(node.issue, [...path, ...node.path.map((key) => (typeof key === "number" ? key : String(key)))])
      case "Composite":
        return node.issues.forEach((child) => walk(child, path))
      case "Encoding":
        return walk(node.issue, path)
      case "AnyOf":
        if (node.issues.length === 1 && node.issues[0] !== undefined) return walk(node.issues[0], path)
        break
      case "Filter":
        if (node.issue._tag === "Pointer" || node.issue._tag === "Composite") return walk(node.issue, path)
        break
    }
    leaves.push({ loc: path, msg: messageOf(node), type: typeOf(node) })
  }
  walk(issue, [root])
  return leaves.slice(0, 50)
}

/** One sentence that names the first field: `prompt.system_prompt: must be at most ...`. */
export const sentenceOf = (faults: ReadonlyArray<Fault>): string => {
  const first = faults[0]
  if (first === undefined) return "Validation failed"
  const field = first.loc.slice(1).join(".")
  return field === "" ? first.msg : `${field}: ${first.msg}`
}
