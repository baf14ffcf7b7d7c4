// What was drawn from a call when it was over.
import type { SessionAnalysis } from "@parley/contract/SessionAnalysis"

interface Props {
  readonly analysis: SessionAnalysis | null
  /** Left out while the call is live. */
  readonly onAgain: (() => void) | undefined
}

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
    {analysis === null && <p class="hint">{onAgain === undefined ? "Made when the call is over." : "Not made yet."}</p>}
    {analysis?.status === "skipped" && <p class="hint">Skipped: the caller said nothing, or nothing is asked for.</p>}
    {analysis?.status === "error" && <p class="hint">It could not be made: {analysis.error}.</p>}
    {analysis?.summary != null && <p>{analysis.summary}</p>}
    {analysis !== null && (analysis.data.length > 0 || analysis.criteria_results.length > 0) && (
      <table>
        <tbody>
          {analysis.data.map(({ name, rationale, value }) => (
            <tr key={name} title={rationale}>
              <th scope="row">{name}</th>
              <td>{value === null ? "not told" : String(value)}</td>
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
