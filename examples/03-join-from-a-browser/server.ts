// A backend that holds the API key and lets its visitors talk to one agent, published in the console:
//   PARLEY_API_KEY=... AGENT_ID=... node examples/03-join-from-a-browser/server.ts
// The key stays here: the page asks for a ticket, good for one call.
import { ParleyClient } from "@parley/client/ParleyClient"
import { build } from "esbuild"
import { createServer } from "node:http"
import { readFileSync } from "node:fs"
import { join } from "node:path"

const { AGENT_ID, PARLEY_API_KEY, PARLEY_URL = "http://127.0.0.1:8080", PORT = "3000" } = process.env
if (AGENT_ID === undefined || PARLEY_API_KEY === undefined) throw new Error("set PARLEY_API_KEY and AGENT_ID")

const parley = new ParleyClient({ baseUrl: PARLEY_URL, apiKey: PARLEY_API_KEY })
const file = (name: string): string => join(import.meta.dirname, name)
const html = readFileSync(file("index.html"))
const bundled = await build({ entryPoints: [file("page.ts")], bundle: true, format: "esm", write: false })
const script = bundled.outputFiles[0]?.text

const server = createServer(async (request, response) => {
  const answer = (type: string, body: string | Buffer | undefined, status = 200): void => {
    response.writeHead(status, { "content-type": type }).end(body)
  }
  switch (`${request.method} ${request.url}`) {
    case "GET /":
      return answer("text/html", html)
    case "GET /page.js":
      return answer("text/javascript", script)
    case "POST /session":
      // Here a real backend asks who the visitor is.
      return parley.sessions.create({ agent_id: AGENT_ID }).then(
        (ticket) => answer("application/json", JSON.stringify(ticket)),
        (error: unknown) => answer("text/plain", `No call now: ${String(error)}`, 502)
      )
    default:
      return answer("text/plain", "Not found", 404)
  }
})
server.listen(Number(PORT), "127.0.0.1", () => {
  const address = server.address()
  console.log(`http://127.0.0.1:${typeof address === "object" ? address?.port : PORT}/`)
})
