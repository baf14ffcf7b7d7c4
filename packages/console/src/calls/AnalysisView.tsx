// The analysis that is made when a call has ended.
import type { SessionAnalysis } from "@parley/contract/SessionAnalysis"

interface Props {
  readonly analysis: SessionAnalysis | null
  /** Left out while the call is live. */
  readonly onAgain: (() => void) | undefined
}

/** The analysis of a call: summary, extracted data, success criteria. */
export const AnalysisView = ({ analysis, onAgain }: Props) => (
  <section class="analysis" aria-label="Analysis">
    <h3>
      Analysis
      {onAgain !== undefined && (
        <button type="button" class="quiet" onClick={onAgain}>
          Analyse again
        </button>
      )}
    </h3>
    {analysis === null && (
      <p class="hint">{onAgain === undefined ? "Created when the call has ended." : "Not available yet."}</p>
    )}
    {analysis?.status === "skipped" && (
      <p class="hint">Skipped: the caller said nothing, or no analysis is configured.</p>
    )}
    {analysis?.status === "error" && <p class="hint">The analysis failed: {analysis.error}.</p>}
    {analysis?.summary != null && <p>{analysis.summary}</p>}
    {analysis !== null && (analysis.data.length > 0 || analysis.criteria_results.length > 0) && (
      <table>
        <tbody>
          {analysis.data.map(({ name, rationale, value }) => (
            <tr key={name} title={rationale}>
              <th scope="row">{name}</th>
              <td>{value === null ? "not given" : String(value)}</td>
            </tr>
          ))}
          {analysis.criteria_results.map(({ name, rationale, result }) => (
            <tr key={name} title={rationale}>
              <th scope="row">{name}</th>
              <td>
                <span class={`badge ${result}`}>{result}</span> {rationale}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
)
