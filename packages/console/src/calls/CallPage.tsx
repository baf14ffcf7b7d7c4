// One call: what was said and done, what was drawn from it, where the time went, who was told.
import type { ParleyClient } from "@parley/client/ParleyClient"
import { durationInWords, plain, timeInWords } from "../inWords.ts"
import { useDoing, useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Said } from "../Said.tsx"
import { Waterfall } from "../Waterfall.tsx"
import { AnalysisView } from "./AnalysisView.tsx"
import { DeliveryLog } from "./DeliveryLog.tsx"
import { JournalView } from "./JournalView.tsx"
import { SipTraceView } from "./SipTraceView.tsx"
import { RecordingView } from "./RecordingView.tsx"
import { testOfCall } from "./testOfCall.ts"
import { wayOf } from "./wayOf.ts"
import { Transcript } from "./Transcript.tsx"

export const CallPage = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const { problem, reload, value: call } = useLoaded(() => client.sessions.get(id), [id])
  const doing = useDoing()
  if (call === null) {
    return (
      <section class="page">
        <Said problem={problem} />
      </section>
    )
  }
  const live = call.status === "active" || call.status === "pending"
  const end = async (): Promise<string> => {
    await client.sessions.end(id)
    await reload()
    return "The call was ended."
  }
  const analyse = async (): Promise<string> => {
    await client.sessions.analyse(id)
    return "It is being analysed; look again in a moment."
  }
  const test = testOfCall(call)
  const makeTest = async (): Promise<string> => {
    if (test === undefined) return ""
    const { test_id } = await client.office.tests.create(test)
    await client.office.tests.attach(test_id, call.agent_id)
    go("agents", call.agent_id, "tests")
    return ""
  }
  return (
    <section class="page call" aria-label="Call">
      <header>
        <h2>
          <a href={href("calls")}>Calls</a> / {call.name || call.agent_name}
        </h2>
        {!live && test !== undefined && (
          <button type="button" onClick={() => doing.act(makeTest)}>
            Make a test of it
          </button>
        )}
        <button type="button" onClick={reload}>
          Look again
        </button>
        {live && (
          <button type="button" class="danger" onClick={() => doing.act(end)}>
            End it
          </button>
        )}
      </header>
      <Said said={doing.said} problem={doing.problem || problem} />
      <dl class="facts">
        <dt>Agent</dt>
        <dd>
          <a href={href("agents", call.agent_id)}>{call.agent_name}</a>
        </dd>
        <dt>Status</dt>
        <dd>
          <span class={`badge ${call.status}`}>{call.status}</span> {plain(call.end_reason ?? "")}
        </dd>
        <dt>Began</dt>
        <dd>
          {timeInWords(call.started_at ?? call.created_at)} {call.timezone}
        </dd>
        <dt>Length</dt>
        <dd>{durationInWords(call.duration_seconds)}</dd>
        {call.end_user_id !== "" && (
          <>
            <dt>User</dt>
            <dd>{call.end_user_id}</dd>
          </>
        )}
        {call.source === "phone" && (
          <>
            <dt>Telephone</dt>
            <dd>
              {wayOf(call)}
              {call.dial_status === null ? "" : `, ${plain(call.dial_status)}`}
            </dd>
          </>
        )}
        <dt>Id</dt>
        <dd>
          <code>{call.session_id}</code>
        </dd>
      </dl>
      <div class="halves">
        <div>
          <h3>Conversation</h3>
          <Transcript items={call.items} began={call.started_at} />
        </div>
        <div>
          <RecordingView key={call.status} client={client} id={id} />
          <AnalysisView analysis={call.analysis} onAgain={live ? undefined : () => void doing.act(analyse)} />
          <Waterfall turns={call.latency} />
          <DeliveryLog client={client} id={id} />
          {call.source === "phone" && <SipTraceView client={client} call={call} />}
          <JournalView client={client} id={id} />
        </div>
      </div>
    </section>
  )
}
