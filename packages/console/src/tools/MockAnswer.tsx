// What a tool answers when an agent is tested: the first of its mock responses. The others are kept as they are.
import type { ToolCreate } from "@parley/contract/Tool"

type Mocks = NonNullable<(typeof ToolCreate.Encoded)["mock_responses"]>

interface Props {
  readonly mocks: Mocks
  readonly onChange: (mocks: Mocks) => void
}

/** Edits the first mock response. */
export const MockAnswer = ({ mocks, onChange }: Props) => {
  const [first, ...others] = mocks
  return (
    <>
      <label for="tool-mock">Mock response in tests</label>
      <textarea
        id="tool-mock"
        rows={2}
        placeholder={'{"booked": true}'}
        value={first?.body ?? ""}
        onInput={({ currentTarget: { value: body } }) =>
          onChange(body === "" ? others : [{ ...(first ?? { name: "In tests" }), body }, ...others])
        }
      />
    </>
  )
}
