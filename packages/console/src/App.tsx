// Who is signed in, and what they see. The key is kept for this browser tab only.
import { ParleyClient } from "@parley/client/ParleyClient"
import { useState } from "preact/hooks"
import { Layout } from "./Layout.tsx"
import { SignIn } from "./SignIn.tsx"

const storageKey = "parley.key"

/** The sign-in form, or the console of the workspace whose key was given. */
export const App = () => {
  const [key, setKey] = useState(() => sessionStorage.getItem(storageKey))
  if (key === null) {
    return (
      <SignIn
        onSignedIn={(good) => {
          sessionStorage.setItem(storageKey, good)
          setKey(good)
        }}
      />
    )
  }
  const signOut = (): void => {
    sessionStorage.removeItem(storageKey)
    setKey(null)
  }
  return <Layout client={new ParleyClient({ baseUrl: "", apiKey: key })} onSignOut={signOut} />
}
