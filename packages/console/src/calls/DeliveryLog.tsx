// The webhooks that were sent for a call: each with its attempts, and a button to send it again.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { formatTime } from "../format.ts"
import { useAction } from "../action.ts"
import { useLoaded } from "../loaded.ts"
import { Notice } from "../Notice.tsx"

/** The webhooks of a call, by its session id, with their attempts. */
export const DeliveryLog = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const { problem, reload, value } = useLoaded(() => client.management.webhooks.deliveries(id), [id])
  const action = useAction()
  const resend = (deliveryId: string): Promise<void> =>
    action.act(async () => {
      await client.management.webhooks.resend(deliveryId)
      await reload()
      return "Queued for delivery again."
    })
  const deliveries = value?.webhook_deliveries ?? []
  return (
    <section aria-label="Webhooks">
      <h3>Webhooks</h3>
      <Notice message={action.message} problem={action.problem || problem} />
      {value !== null && deliveries.length === 0 && <p class="hint">No webhooks were sent.</p>}
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
                  <td>{formatTime(attempt.sent_at)}</td>
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
