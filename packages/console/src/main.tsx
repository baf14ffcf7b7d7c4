// The console: sign in with a key, then the desk.
import { render } from "preact"
import { App } from "./App.tsx"

const root = document.getElementById("console")
if (root !== null) render(<App />, root)
