// The meta tags of a page by their names, whichever attribute holds the name.
import { attribute, type ParsedPage } from './tree.ts'

export interface MetaTags {
  /** The first that is stated of these names. */
  first(...names: readonly string[]): string | undefined
  /** All of one name, in the order of the page. */
  all(name: string): readonly string[]
}

const MAX_VALUES = 40

/** Names without regard to case; `property`, `name`, `itemprop` and `http-equiv` all count. */
export function readMetaTags(page: ParsedPage): MetaTags {
  const values = new Map<string, string[]>()
  for (const { name, attributes } of page.head) {
    if (name !== 'meta') continue
    const content = attribute(attributes, 'content')
    if (content === undefined) continue
    for (const key of ['property', 'name', 'itemprop', 'http-equiv']) {
      const called = attribute(attributes, key)?.trim().toLowerCase()
      if (!called) continue
      const list = values.get(called)
      if (!list) values.set(called, [content])
      else if (list.length < MAX_VALUES) list.push(content)
    }
  }
  return {
    first(...names) {
      for (const name of names) {
        const value = values.get(name.toLowerCase())?.find((content) => content.trim() !== '')
        if (value !== undefined) return value
      }
      return undefined
    },
    all: (name) => values.get(name.toLowerCase()) ?? [],
  }
}
