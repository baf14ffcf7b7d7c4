// What every bench prints and keeps: percentiles beside the target, raw rows as JSON.
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus } from "node:os"
import { join } from "node:path"

export interface Measure {
  readonly what: string
  readonly unit: string
  readonly values: ReadonlyArray<number>
  /** As the issue or a peer's figure states it. */
  readonly target?: string
}

export const report = (name: string, measures: ReadonlyArray<Measure>, rows: ReadonlyArray<unknown>): void => {
  for (const { target, unit, values, what } of measures) {
    const figures = [50, 95, 99].map((p) => `p${p} ${percentile(values, p).toFixed(1)}`).join("  ")
    console.log(`${what}: ${figures} ${unit} (n=${values.length})${target === undefined ? "" : `   target: ${target}`}`)
  }
  const folder = join(import.meta.dirname, "results")
  mkdirSync(folder, { recursive: true })
  const machine = { node: process.version, cpu: cpus()[0]?.model ?? "", cores: cpus().length }
  writeFileSync(
    join(folder, `${name}.json`),
    JSON.stringify({ name, at: new Date().toISOString(), machine, rows }, null, 1)
  )
}

export const percentile = (values: ReadonlyArray<number>, p: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.ceil((p / 100) * sorted.length) - 1)] ?? Number.NaN
}
