// Bodies as nobody should send them: without a name, under a wrong one, for something else, packed, blank, in parts.
import { type Chance, sdp } from "./SipGrammar.ts"

/** A body, and the lines about it. */
export interface OddBody {
  readonly entity: ReadonlyArray<string>
  readonly body: string
}

/** Half of them are plain session descriptions. */
export const oddBody = (chance: Chance): OddBody =>
  chance.happens(0.5) ? { entity: [plain], body: sdp(chance) } : chance.one(kinds)(chance)

const plain = "Content-Type: application/sdp"

const kinds: ReadonlyArray<(chance: Chance) => OddBody> = [
  (chance) => ({ entity: [], body: sdp(chance) }),
  (chance) => ({ entity: ["Content-Disposition: session"], body: sdp(chance) }),
  (chance) => ({ entity: [plain, `Content-Disposition: ${chance.one(dispositions)}`], body: sdp(chance) }),
  (chance) => ({ entity: [`Content-Type: ${chance.one(types)}`], body: sdp(chance) }),
  (chance) => ({
    entity: [plain, chance.one(["Content-Encoding: gzip", "e: identity", "Content-Language: \u0000"])],
    body: sdp(chance)
  }),
  (chance) => ({
    entity: chance.happens(0.5) ? [] : [plain],
    body: chance.one([" ", "\r\n", "\r\n\r\n", "\t \r\n", "\u0000"])
  }),
  (chance) => ({ entity: [plain, "c: text/plain"], body: sdp(chance) }),
  (chance) => ({
    entity: [
      `Content-Type: multipart/${chance.one(["mixed", "alternative", "x"])}; boundary=${chance.one(["b", '"b"', "", "c"])}`
    ],
    body: `--b\r\n${chance.one([`${plain}\r\n`, "", "Content-Type: text/plain\r\n"])}\r\n${sdp(chance)}\r\n--b${chance.one(["--", "", "-"])}\r\n`
  })
]

const dispositions = [
  "session",
  "render",
  "early-session",
  "session;handling=optional",
  "x;handling=optional",
  ";",
  "",
  '"',
  "\u0000"
]
const types = [
  "application/sdp;x=y",
  "text/plain",
  "application",
  "/",
  "",
  "application/sdp;",
  "*/*",
  "a/b;c",
  "APPLICATION/SDP",
  "message/sipfrag"
]
