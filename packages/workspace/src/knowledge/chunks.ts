// A document becomes passages of about a thousand characters that can be read alone: cut at headings first, then
// between paragraphs, then between sentences, each with the path of headings it stands under. Pure.

/** A passage with the path of headings above it. */
export interface Chunk {
  /** `Opening hours > Sunday`; empty above the first heading. */
  readonly heading: string
  readonly content: string
}

/** A chunk is closed with this many characters... */
const enough = 800
/** ...and never has more. */
const most = 1200
const longestHeading = 200
/** What is mostly headings is cut as if it had none: a megabyte of prose has some 1,300. */
const mostChunks = 4000

/** The passages of a Markdown or plain text, in order: at most 1,200 characters each, 4,000 passages. */
export const chunksOf = (document: string): ReadonlyArray<Chunk> => {
  const lines = document.replace(/\r\n?/g, "\n").split("\n")
  const chunks = sectionsOf(lines).flatMap(chunked)
  return chunks.length <= mostChunks ? chunks : chunked({ heading: "", lines })
}

const chunked = ({ heading, lines }: Section): ReadonlyArray<Chunk> =>
  packed(paragraphsOf(lines)).map((content) => ({ heading, content }))

interface Section {
  readonly heading: string
  readonly lines: ReadonlyArray<string>
}

const sectionsOf = (document: ReadonlyArray<string>): ReadonlyArray<Section> => {
  const sections: Array<{ readonly heading: string; readonly lines: Array<string> }> = [{ heading: "", lines: [] }]
  const path: Array<{ readonly level: number; readonly title: string }> = []
  let fence = ""
  for (const line of document) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? ""
    if (mark !== "" && (fence === "" || mark.startsWith(fence))) fence = fence === "" ? mark : ""
    const [, hashes = "", title = ""] = (fence === "" ? /^ {0,3}(#{1,6})\s+(.*?)[\s#]*$/.exec(line) : null) ?? []
    if (title === "") {
      sections.at(-1)?.lines.push(line)
      continue
    }
    while ((path.at(-1)?.level ?? 0) >= hashes.length) path.pop()
    path.push({ level: hashes.length, title })
    sections.push({
      heading: clipped(path.map((step) => step.title).join(" > ")),
      lines: []
    })
  }
  // A heading with nothing under it is still a line of the document.
  return sections.map((section, i) => {
    const bare = section.lines.every((line) => line.trim() === "")
    const next = sections[i + 1]
    const opensNext = next?.heading.startsWith(`${section.heading} > `) === true
    return bare && section.heading !== "" && !opensNext
      ? { heading: section.heading, lines: [section.heading] }
      : section
  })
}

const paragraphsOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines
    .join("\n")
    .split(/\n[ \t]*\n+/)
    .map((paragraph) => paragraph.replace(/^\n+|\s+$/g, ""))
    .filter((paragraph) => paragraph.trim() !== "")

/** Whole paragraphs together until there is enough; longer ones in pieces. */
const packed = (paragraphs: ReadonlyArray<string>): ReadonlyArray<string> => {
  const chunks: Array<string> = []
  let open = ""
  for (const piece of paragraphs.flatMap((paragraph) => (paragraph.length > most ? pieces(paragraph) : [paragraph]))) {
    const joined = open === "" ? piece : `${open}\n\n${piece}`
    if (joined.length <= most) open = joined
    else {
      chunks.push(open)
      open = piece
    }
    if (open.length >= enough) {
      chunks.push(open)
      open = ""
    }
  }
  if (open !== "") chunks.push(open)
  return chunks
}

/** Of at most `most` characters, cut where a line, a sentence or at least a word ends. */
const pieces = (paragraph: string): ReadonlyArray<string> => {
  const cut: Array<string> = []
  let rest = paragraph
  while (rest.length > most) {
    const window = rest.slice(0, most)
    const at =
      lastEnd(window, /\n/g) ?? lastEnd(window, /[.!?…]["')\]]*\s|[。！？]/g) ?? lastEnd(window, /\s/g) ?? whole(window)
    cut.push(rest.slice(0, at).trim())
    rest = rest.slice(at).trimStart()
  }
  return [...cut, rest.trim()].filter((piece) => piece !== "")
}

/** The last place in the window's second half where the pattern ends. */
const lastEnd = (window: string, pattern: RegExp): number | undefined => {
  const ends = [...window.matchAll(pattern)].map((match) => match.index + match[0].length)
  const last = ends.at(-1)
  return last !== undefined && last >= most / 2 ? last : undefined
}

/** Not between the halves of a character. */
const whole = (window: string): number => (window.isWellFormed() ? window.length : window.length - 1)

const clipped = (heading: string): string =>
  heading.length <= longestHeading ? heading : `${heading.slice(0, longestHeading - 1).toWellFormed()}…`
