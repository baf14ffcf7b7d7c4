// A webhook tool's templates filled with a call's arguments, pure. One pass: what a value holds is
// not read again. In the address a value is URL-encoded and can change neither its host nor the number of its
// steps; in a JSON body it is escaped as JSON asks. A placeholder without a value stays as it is written.
import type { WebhookTemplate } from "@parley/contract/WebhookTemplate"
import { Redacted } from "effect"

/** By the names of the tool's arguments. */
export type ToolArguments = Readonly<Record<string, unknown>>

/** A request without placeholders. */
export interface FilledRequest {
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string | undefined
}

/** Undefined when an argument would lead the address to another place. */
export const fillTemplate = (template: WebhookTemplate, args: ToolArguments): FilledRequest | undefined => {
  const url = fill(template.url, args, template.system, (value) => encodeURIComponent(plain(value).toWellFormed()))
  if (dotSteps(url) !== dotSteps(template.url)) return undefined
  const body = bodyOf(template, args)
  const headers = template.headers.map(
    ({ name, value }) => [name, headerText(fill(Redacted.value(value), args, template.system, plain))] as const
  )
  const typed = headers.some(([name]) => name.toLowerCase() === "content-type")
  return {
    url,
    headers: body === undefined || typed ? headers : [["Content-Type", template.contentType], ...headers],
    body
  }
}

const bodyOf = ({ body, contentType, method, system }: WebhookTemplate, args: ToolArguments): string | undefined => {
  const json = isJson(contentType)
  if (body === "") {
    // Without a template the arguments themselves are what there is to say.
    return json && method !== "GET" && method !== "DELETE" ? JSON.stringify(args) : undefined
  }
  if (json) return fill(body, args, system, jsonText)
  return fill(
    body,
    args,
    system,
    isForm(contentType) ? (value) => encodeURIComponent(plain(value).toWellFormed()) : plain
  )
}

const fill = (
  template: string,
  args: ToolArguments,
  system: WebhookTemplate["system"],
  encode: (value: unknown) => string
): string =>
  template.replace(/\{\{\s*([^{}]*?)\s*\}\}/g, (whole, name: string) => {
    const [values, key]: readonly [Readonly<Record<string, unknown>>, string] = name.startsWith("system.")
      ? [system, name.slice(7)]
      : [args, name]
    return Object.hasOwn(values, key) && values[key] !== undefined ? encode(values[key]) : whole
  })

const isJson = (contentType: string): boolean => /^[^;]*[/+]json\b/i.test(contentType)
const isForm = (contentType: string): boolean => /^application\/x-www-form-urlencoded\b/i.test(contentType)

const plain = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value))

/** For a place inside quotes as well as for a number's own place. */
const jsonText = (value: unknown): string =>
  typeof value === "string" ? JSON.stringify(value).slice(1, -1) : JSON.stringify(value)

/** Node writes header text as Latin-1: the bytes of its UTF-8 are given one by one. */
const headerText = (value: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  Buffer.from(value.replace(/[\0-\x08\x0a-\x1f\x7f]/g, " "), "utf8").toString("latin1")

const dotSteps = (url: string): number =>
  (url.split(/[?#]/)[0] ?? "").split(/[/\\]/).filter((step) => /^(\.|%2e){1,2}$/i.test(step)).length
