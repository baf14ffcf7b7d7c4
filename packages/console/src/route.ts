// Where the person is: `#page/id`, so that the browser's back button and a copied address work.
import { useEffect, useState } from "preact/hooks"

export const pages = ["agents", "calls", "tools", "knowledge", "usage"] as const
export type PageName = (typeof pages)[number]

export interface Route {
  readonly page: PageName
  /** Empty for the page's own view. */
  readonly id: string
}

export const href = (page: PageName, id = ""): string => `#${page}${id === "" ? "" : `/${encodeURIComponent(id)}`}`

export const go = (page: PageName, id = ""): void => {
  location.hash = href(page, id)
}

const read = (): Route => {
  const [name = "", id = ""] = location.hash.slice(1).split("/")
  return { page: pages.find((page) => page === name) ?? "agents", id: decodeURIComponent(id) }
}

export const useRoute = (): Route => {
  const [route, setRoute] = useState(read)
  useEffect(() => {
    const look = (): void => setRoute(read())
    addEventListener("hashchange", look)
    return () => removeEventListener("hashchange", look)
  }, [])
  return route
}
