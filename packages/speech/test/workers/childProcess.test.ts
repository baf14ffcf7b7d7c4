// What a program of the service sees of it: as a thread and as a child process.
import { assert, describe, it } from "@effect/vitest"
import { startWorker } from "../../src/workers/WorkerPort.ts"

const program = new URL("./environmentProgram.ts", import.meta.url)

interface Seen {
  readonly names: ReadonlyArray<string>
  readonly uid: number
  readonly canBeRoot: boolean
}

const seenBy = (kind: "thread" | "process") =>
  new Promise<Seen>((resolve) => {
    const worker = startWorker(
      { kind, file: program, name: "environment" },
      {
        onOnline: () => undefined,
        onExit: () => undefined,
        onMessage: (message) => {
          void worker.kill()
          resolve(message as Seen)
        }
      }
    )
  })

describe("Programs of the service", () => {
  it.each(["thread", "process"] as const)("see no setting of it as a %s", async (kind) => {
    process.env["PARLEY_SECRET_KEY"] = "secret of the service"
    process.env["DATABASE_URL"] = "postgres://a:b@c/d"
    try {
      const { names } = await seenBy(kind)
      assert.include(names, "PATH")
      assert.deepStrictEqual(
        names.filter((name) => /PARLEY|DATABASE|OTEL|KEY|TOKEN|SECRET/.test(name)),
        []
      )
    } finally {
      delete process.env["PARLEY_SECRET_KEY"]
      delete process.env["DATABASE_URL"]
    }
  })

  it("are nobody once they have read what they need, where the service is root", async () => {
    const { canBeRoot, uid } = await seenBy("process")
    assert.strictEqual(uid, process.getuid?.() === 0 ? 65_534 : process.getuid?.())
    assert.isFalse(canBeRoot)
  })
})
