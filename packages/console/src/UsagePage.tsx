// Usage and cost: the balance, the days, the prices.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { useState } from "preact/hooks"
import { formatName } from "./format.ts"
import { useLoaded } from "./loaded.ts"
import { Notice } from "./Notice.tsx"

/** The balance, the usage of a period by day, and the prices. */
export const UsagePage = ({ client }: { readonly client: ParleyClient }) => {
  const [days, setDays] = useState(30)
  const credit = useLoaded(() => client.management.wallet.credit(), [])
  const used = useLoaded(() => client.management.wallet.byDay(days), [days])
  const prices = useLoaded(() => client.management.wallet.prices(), [])
  const rows = used.value?.days ?? []
  const most = Math.max(...rows.map((row) => Number(row.cost)), Number.MIN_VALUE)
  return (
    <section class="page" aria-label="Usage">
      <header>
        <h2>Usage</h2>
        <select aria-label="Days" value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
          <option value="1">Today</option>
          <option value="7">7 days</option>
          <option value="30">30 days</option>
          <option value="366">A year</option>
        </select>
      </header>
      <Notice problem={credit.problem || used.problem || prices.problem} />
      <dl class="facts">
        <dt>Balance</dt>
        <dd>{credit.value?.credit}</dd>
        <dt>Spent in this period</dt>
        <dd>{used.value?.cost}</dd>
      </dl>
      {used.value !== null && rows.length === 0 && <p class="hint">No usage in this period.</p>}
      <div class="halves">
        <table class="rows">
          <thead>
            <tr>
              <th scope="col">Day</th>
              <th scope="col">Kind</th>
              <th scope="col" class="number">
                Count
              </th>
              <th scope="col" class="number">
                Quantity
              </th>
              <th scope="col" class="number">
                Cost
              </th>
              <th scope="col" aria-label="Share" />
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={`${row.day} ${row.kind} ${row.model}`}>
                <td>{row.day}</td>
                <td>
                  {formatName(row.kind)} <small>{row.model}</small>
                </td>
                <td class="number">{row.entries}</td>
                <td class="number">
                  {row.quantity} {unitOf(row.kind)}
                </td>
                <td class="number">{row.cost}</td>
                <td class="share">
                  <i style={{ width: `${(100 * Number(row.cost)) / most}%` }} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
        <div>
          <h3>Prices</h3>
          <table>
            <tbody>
              {(prices.value?.prices ?? []).map((price) => (
                <tr key={price.name}>
                  <th scope="row">{formatName(price.name)}</th>
                  <td class="number">{price.amount}</td>
                  <td>per {price.per === 1 ? price.piece : `${price.per.toLocaleString()} ${price.piece}s`}</td>
                </tr>
              ))}
            </tbody>
          </table>
          <p class="hint">The operator sets them with `npm run parley -- prices`.</p>
        </div>
      </div>
    </section>
  )
}

const unitOf = (kind: string): string => (kind === "tts" ? "bytes" : kind === "voice_design" ? "requests" : "seconds")
