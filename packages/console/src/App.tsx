// Who is signed in, and what they see. The key is kept for this browser tab only.
import { ParleyClient } from "@parley/client/ParleyClient"
import { useState } from "preact/hooks"
import { Desk } from "./Desk.tsx"
import { SignIn } from "./SignIn.tsx"

const storageKey = "parley.key"

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
  return <Desk client={new ParleyClient({ baseUrl: "", apiKey: key })} onSignOut={signOut} />
}
