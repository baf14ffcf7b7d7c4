import { assert, describe, it } from "@effect/vitest"
import type { WebhookTemplate } from "@parley/contract/WebhookTemplate"
import { Redacted } from "effect"
import { fillTemplate } from "../../src/tools/ToolTemplate.ts"

const template = (more: Partial<WebhookTemplate> = {}): WebhookTemplate => ({
  method: "POST",
  url: "https://api.example.com/",
  contentType: "application/json",
  body: "",
  headers: [],
  system: { today: "2026-03-02", caller_number: '+1 "2"' },
  ...more
})

const filled = (more: Partial<WebhookTemplate>, args: Record<string, unknown> = {}) =>
  fillTemplate(template(more), args)

describe("fillTemplate", () => {
  it.each([
    ["https://x.example.com/a/{{id}}?d={{system.today}}", { id: "1" }, "https://x.example.com/a/1?d=2026-03-02"],
    [
      "https://x.example.com/a/{{ id }}/b",
      { id: "x/../y?z#w&v=%2e" },
      "https://x.example.com/a/x%2F..%2Fy%3Fz%23w%26v%3D%252e/b"
    ],
    [
      "https://x.example.com/?q={{q}}",
      { q: "Zoë 😀 \ud800" },
      "https://x.example.com/?q=Zo%C3%AB%20%F0%9F%98%80%20%EF%BF%BD"
    ],
    ["https://x.example.com/?n={{n}}&m={{missing}}", { n: 2.5 }, "https://x.example.com/?n=2.5&m={{missing}}"],
    ["https://x.example.com/?a={{a}}", { a: "{{b}}", b: "no" }, "https://x.example.com/?a=%7B%7Bb%7D%7D"],
    [
      "https://x.example.com/?a={{system.nope}}{{toString}}",
      {},
      "https://x.example.com/?a={{system.nope}}{{toString}}"
    ],
    ["https://x.example.com/v1/../a?x=..", {}, "https://x.example.com/v1/../a?x=.."]
  ])("fills %s", (url, args, expected) => assert.strictEqual(filled({ url }, args)?.url, expected))

  it.each([
    ["/a/{{id}}/b", { id: ".." }],
    ["/a/{{id}}", { id: "." }],
    ["/a/{{id}}{{more}}/b", { id: ".", more: "." }],
    ["/a/.{{id}}/b", { id: "." }],
    ["/a/%2e{{id}}/b", { id: "." }]
  ])("does not let an argument climb out of %s", (path, args) =>
    assert.isUndefined(filled({ url: `https://x.example.com${path}` }, args))
  )

  it("escapes JSON bodies so that a value stays a value", () => {
    const body = '{"name":"{{name}}","n":{{n}},"ok":{{ok}},"list":{{list}},"day":"{{system.caller_number}}"}'
    const args = { name: 'a"b\\c\n","x":"', n: 3, ok: true, list: [1, "é"] }
    assert.deepStrictEqual(JSON.parse(filled({ body }, args)?.body ?? ""), {
      name: args.name,
      n: 3,
      ok: true,
      list: [1, "é"],
      day: '+1 "2"'
    })
    for (const contentType of ["application/vnd.x+json", "application/json; charset=utf-8"]) {
      assert.strictEqual(filled({ body: '"{{v}}"', contentType }, { v: '"' })?.body, '"\\""')
    }
  })

  it("encodes forms and leaves other bodies as they are", () => {
    const form = "application/x-www-form-urlencoded"
    assert.strictEqual(filled({ body: "a={{v}}", contentType: form }, { v: "1&b=2" })?.body, "a=1%26b%3D2")
    assert.strictEqual(filled({ body: "<{{v}}>", contentType: "text/plain" }, { v: '"&' })?.body, '<"&>')
  })

  it("sends the arguments where there is no template for a body", () => {
    assert.strictEqual(filled({}, { a: "b" })?.body, '{"a":"b"}')
    assert.isUndefined(filled({ method: "GET" }, { a: "b" })?.body)
    assert.isUndefined(filled({ method: "DELETE" }, { a: "b" })?.body)
    assert.isUndefined(filled({ contentType: "text/plain" }, { a: "b" })?.body)
    assert.deepStrictEqual(filled({ method: "GET" })?.headers, [])
  })

  it("fills headers without letting a value begin another one", () => {
    const headers = [
      { name: "X-Who", value: Redacted.make("{{who}} {{system.today}}") },
      { name: "Authorization", value: Redacted.make("Bearer {{not}}k") }
    ]
    assert.deepStrictEqual(filled({ headers }, { who: "a\r\nX-Evil: 1" })?.headers, [
      ["Content-Type", "application/json"],
      ["X-Who", "a  X-Evil: 1 2026-03-02"],
      ["Authorization", "Bearer {{not}}k"]
    ])
    const own = [{ name: "content-TYPE", value: Redacted.make("text/x; v={{v}}") }]
    assert.deepStrictEqual(filled({ headers: own }, { v: "é" })?.headers, [["content-TYPE", "text/x; v=\u00c3\u00a9"]])
  })
})
