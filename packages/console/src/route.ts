// Where the person is: `#page/id/part`, so that the browser's back button and a copied address work.
import { useEffect, useState } from "preact/hooks"

export const pages = ["agents", "calls", "phone", "tools", "knowledge", "usage", "keys"] as const
export type PageName = (typeof pages)[number]

/** What the address shows. */
export interface Route {
  readonly page: PageName
  /** Empty for the page's own view. */
  readonly id: string
  /** Which part of it; empty for the first. */
  readonly part: string
}

/** The address of a page, of one record on it, and of a part of that record. */
export const href = (page: PageName, ...where: ReadonlyArray<string>): string =>
  `#${[page, ...where.map(encodeURIComponent)].join("/")}`

/** Opens that address. */
export const go = (page: PageName, ...where: ReadonlyArray<string>): void => {
  location.hash = href(page, ...where)
}

const read = (): Route => {
  const [name = "", ...where] = location.hash.slice(1).split("/")
  const [id = "", part = ""] = where.map(decoded)
  return { page: pages.find((page) => page === name) ?? "agents", id, part }
}

/** An address may have been typed. */
const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return ""
  }
}

/** The address as it is now; the component is drawn again when it changes. */
export const useRoute = (): Route => {
  const [route, setRoute] = useState(read)
  useEffect(() => {
    const look = (): void => setRoute(read())
    addEventListener("hashchange", look)
    return () => removeEventListener("hashchange", look)
  }, [])
  return route
}
