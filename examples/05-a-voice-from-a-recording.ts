// Make a voice from a recording and say something with it; the service must be running (npm start):
//   PARLEY_API_KEY=... node examples/05-a-voice-from-a-recording.ts recording.wav "Good morning." morning.mp3
import { ParleyClient } from "@parley/client/ParleyClient"
import { openAsBlob, writeFileSync } from "node:fs"

const [recording = "recording.wav", text = "Hello, this is my new voice.", file = "hello.mp3"] = process.argv.slice(2)

const parley = new ParleyClient({
  baseUrl: process.env["PARLEY_URL"] ?? "http://127.0.0.1:8080",
  apiKey: process.env["PARLEY_API_KEY"] ?? ""
})

const voice = await parley.voices.create({ title: "My voice", recordings: [await openAsBlob(recording)] })
console.log(`${voice._id}  ${voice.quality?.audios[0]?.quality_reason ?? ""}`)

const sound = await parley.speech.speak({ text, reference_id: voice._id, format: "mp3" })
const bytes = new Uint8Array(await new Response(sound).arrayBuffer())
writeFileSync(file, bytes)

const heard = await parley.speech.transcribe(new Blob([bytes]))
console.log(`${file}: ${heard.duration.toFixed(1)} s, heard as: ${heard.text}`)
