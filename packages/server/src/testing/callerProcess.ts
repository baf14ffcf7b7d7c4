// A caller in a process of its own, so that a test can kill it: joins with the ticket in its first argument, says
// "joined" on its output when the agent listens, and stays.
import { joinCall, until } from "./RtcCaller.ts"

const ticket = JSON.parse(process.argv[2] ?? "{}") as { readonly rtc_url: string; readonly token: string }
const caller = await joinCall(ticket)
await until("the agent listens", () => caller.state() === "listening")
process.stdout.write("joined\n")
