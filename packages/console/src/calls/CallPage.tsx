// One call: transcript, tool calls, recording, analysis, latency, webhooks, SIP trace and journal.
import type { ParleyClient } from "@parley/client/ParleyClient"
import type { SessionDetail } from "@parley/contract/Session"
import { formatDuration, formatName, formatTime } from "../format.ts"
import { useAction } from "../action.ts"
import { useLoaded } from "../loaded.ts"
import { go, href } from "../route.ts"
import { Notice } from "../Notice.tsx"
import { Waterfall } from "../Waterfall.tsx"
import { AnalysisView } from "./AnalysisView.tsx"
import { DeliveryLog } from "./DeliveryLog.tsx"
import { JournalView } from "./JournalView.tsx"
import { SipTraceView } from "./SipTraceView.tsx"
import { RecordingView } from "./RecordingView.tsx"
import { testFromCall } from "./testFromCall.ts"
import { callDirection } from "./callDirection.ts"
import { Transcript } from "./Transcript.tsx"

/** The record of one call, by its session id. */
export const CallPage = ({ client, id }: { readonly client: ParleyClient; readonly id: string }) => {
  const { problem, reload, value: call } = useLoaded(() => client.sessions.get(id), [id])
  const action = useAction()
  if (call === null) {
    return (
      <section class="page">
        <Notice problem={problem} />
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
    return "Analysis started. Refresh in a moment."
  }
  const test = testFromCall(call)
  const makeTest = async (): Promise<string> => {
    if (test === undefined) return ""
    const { test_id } = await client.management.tests.create(test)
    await client.management.tests.attach(test_id, call.agent_id)
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
          <button type="button" onClick={() => action.act(makeTest)}>
            Create a test from this call
          </button>
        )}
        <button type="button" onClick={reload}>
          Refresh
        </button>
        {live && (
          <button type="button" class="danger" onClick={() => action.act(end)}>
            End call
          </button>
        )}
      </header>
      <Notice message={action.message} problem={action.problem || problem} />
      <Facts call={call} />
      <div class="halves">
        <div>
          <h3>Conversation</h3>
          <Transcript items={call.items} began={call.started_at} />
        </div>
        <div>
          <RecordingView key={call.status} client={client} id={id} />
          <AnalysisView analysis={call.analysis} onAgain={live ? undefined : () => void action.act(analyse)} />
          <Waterfall turns={call.latency} />
          <DeliveryLog client={client} id={id} />
          {call.source === "phone" && <SipTraceView client={client} call={call} />}
          <JournalView client={client} id={id} />
        </div>
      </div>
    </section>
  )
}

const Facts = ({ call }: { readonly call: SessionDetail }) => (
  <dl class="facts">
    <dt>Agent</dt>
    <dd>
      <a href={href("agents", call.agent_id)}>{call.agent_name}</a>
    </dd>
    <dt>Status</dt>
    <dd>
      <span class={`badge ${call.status}`}>{call.status}</span> {formatName(call.end_reason ?? "")}
    </dd>
    <dt>Started</dt>
    <dd>
      {formatTime(call.started_at ?? call.created_at)} {call.timezone}
    </dd>
    <dt>Duration</dt>
    <dd>{formatDuration(call.duration_seconds)}</dd>
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
          {callDirection(call)}
          {call.dial_status === null ? "" : `, ${formatName(call.dial_status)}`}
        </dd>
      </>
    )}
    <dt>Id</dt>
    <dd>
      <code>{call.session_id}</code>
    </dd>
  </dl>
)
