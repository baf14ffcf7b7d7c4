import { describe, expect, it, vi } from "vitest"
import type { SileroBatch } from "../../src/silero/SileroBatch.ts"
import { WindowGatherer } from "../../src/silero/WindowGatherer.ts"

const window = (value: number) => new Int16Array(512).fill(value)

describe("WindowGatherer", () => {
  it("sends at once for few streams, gathers for many, and gives answers back in order", () => {
    vi.useFakeTimers()
    try {
      const gatherer = new WindowGatherer()
      const batches: Array<SileroBatch> = []
      gatherer.connect((batch) => batches.push(batch))
      const seen: Array<[number, number, number]> = []
      const ids = Array.from({ length: 4 }, (_, i) => gatherer.open((p, end) => seen.push([i, p, end])))
      gatherer.add(ids[0]!, window(1))
      expect(batches).toHaveLength(1)
      const fifth = gatherer.open((p, end) => seen.push([4, p, end]))
      gatherer.add(fifth, window(2))
      gatherer.add(ids[0]!, window(3))
      gatherer.add(ids[0]!, window(4))
      expect(batches).toHaveLength(1)
      vi.advanceTimersByTime(5)
      expect(batches).toHaveLength(2)
      expect([...(batches[1]?.streams ?? [])]).toEqual([fifth, ids[0], ids[0]])
      expect([0, 512, 1024].map((at) => batches[1]?.windows[at])).toEqual([2, 3, 4])
      gatherer.answered(Float32Array.of(0.5))
      gatherer.answered(Float32Array.of(0.25, 0.75, 1))
      expect(seen).toEqual([
        [0, 0.5, 512],
        [4, 0.25, 512],
        [0, 0.75, 1024],
        [0, 1, 1536]
      ])
    } finally {
      vi.useRealTimers()
    }
  })

  it("drops windows when too many are in flight, and counts samples on", () => {
    const gatherer = new WindowGatherer()
    let sent = 0
    gatherer.connect((batch) => (sent += batch.streams.length))
    const ends: Array<number> = []
    const id = gatherer.open((_, end) => ends.push(end))
    for (let i = 0; i < 2500; i++) gatherer.add(id, window(0))
    expect(sent).toBe(2000)
    for (let i = 0; i < 2000; i++) gatherer.answered(Float32Array.of(0))
    gatherer.add(id, window(0))
    gatherer.answered(Float32Array.of(0))
    expect(ends.at(-1)).toBe(2501 * 512)
  })

  it("forgets a thread that is gone, keeps its streams, and names the closed ones", () => {
    const gatherer = new WindowGatherer()
    let answers = 0
    const id = gatherer.open(() => answers++)
    gatherer.add(id, window(0))
    gatherer.connect(() => {})
    gatherer.add(id, window(0))
    gatherer.disconnect()
    gatherer.answered(Float32Array.of(1))
    expect(answers).toBe(0)
    const batches: Array<SileroBatch> = []
    gatherer.connect((batch) => batches.push(batch))
    const other = gatherer.open(() => {})
    gatherer.close(other)
    gatherer.add(other, window(0))
    gatherer.add(id, window(0))
    expect(batches.map((batch) => batch.closed)).toEqual([[other]])
  })
})
