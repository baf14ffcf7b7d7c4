// The outcome of a request: a message when it succeeded, an alert when it failed, nothing while neither is known.

interface Props {
  /** Shown when it is not empty. */
  readonly message?: string
  /** Shown as an alert when it is not empty. */
  readonly problem?: string
}

/** The outcome of a request, for sighted people and screen readers alike. */
export const Notice = ({ message = "", problem = "" }: Props) => (
  <>
    {message !== "" && (
      <p class="note" role="status">
        {message}
      </p>
    )}
    {problem !== "" && (
      <p class="problem" role="alert">
        {problem}
      </p>
    )}
  </>
)
