// The sign-in form: it takes the key that `npm start` printed.
import { ParleyClient } from "@parley/client/ParleyClient"
import { useState } from "preact/hooks"
import { formatError } from "./format.ts"

/** Asks for an API key and tries it; `onSignedIn` gets a key that the service has accepted. */
export const SignIn = ({ onSignedIn }: { readonly onSignedIn: (key: string) => void }) => {
  const [key, setKey] = useState("")
  const [problem, setProblem] = useState("")
  const [busy, setBusy] = useState(false)
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem("")
    try {
      await new ParleyClient({ baseUrl: "", apiKey: key.trim() }).agents.list({ page_size: 1 })
      onSignedIn(key.trim())
    } catch (error) {
      setProblem(formatError(error))
      setBusy(false)
    }
  }
  return (
    <main class="sign-in">
      <form onSubmit={submit}>
        <h1>Parley</h1>
        <p>Sign in with the API key that the service printed when it started.</p>
        <label for="key">API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          value={key}
          onInput={(event) => setKey(event.currentTarget.value)}
          placeholder="pk_..."
        />
        <button class="primary" type="submit" disabled={busy || key.trim() === ""}>
          Sign in
        </button>
        {problem !== "" && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
      </form>
    </main>
  )
}
