// What came of something, in words: a success, a failure, or neither.

export const Said = ({ problem = "", said = "" }: { readonly said?: string; readonly problem?: string }) => (
  <>
    {said !== "" && (
      <p class="note" role="status">
        {said}
      </p>
    )}
    {problem !== "" && (
      <p class="problem" role="alert">
        {problem}
      </p>
    )}
  </>
)
