// Who was told of the call: each webhook with its attempts, and sending one again.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { timeInWords } from "../inWords.ts"
import { useDoing, useLoaded } from "../loaded.ts"
import { Said } from "../Said.tsx"

export const DeliveryLog = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const { problem, reload, value } = useLoaded(() => client.office.webhooks.deliveries(id), [id])
  const doing = useDoing()
  const resend = (deliveryId: string): Promise<void> =>
    doing.act(async () => {
      await client.office.webhooks.resend(deliveryId)
      await reload()
      return "It is on its way again."
    })
  const deliveries = value?.webhook_deliveries ?? []
  return (
    <section aria-label="Webhooks">
      <h3>Webhooks</h3>
      <Said said={doing.said} problem={doing.problem || problem} />
      {value !== null && deliveries.length === 0 && <p class="hint">Nobody was told.</p>}
      {deliveries.map((delivery) => (
        <details key={delivery.delivery_id}>
          <summary>
            <span class={`badge ${delivery.status}`}>{delivery.status}</span> {delivery.event}{" "}
            <small>{delivery.url}</small>
          </summary>
          <table>
            <tbody>
              {delivery.attempts.map((attempt, index) => (
                <tr key={attempt.attempt}>
                  <th scope="row">{index + 1}</th>
                  <td>{timeInWords(attempt.sent_at)}</td>
                  <td>{attempt.status_code ?? attempt.error}</td>
                  <td class="number">{attempt.latency_ms} ms</td>
                </tr>
              ))}
            </tbody>
          </table>
          <pre>{pretty(delivery.request_body)}</pre>
          <button type="button" onClick={() => resend(delivery.delivery_id)}>
            Send again
          </button>
        </details>
      ))}
    </section>
  )
}

const pretty = (body: string): string => {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
