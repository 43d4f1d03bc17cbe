// Which of the things that a page states it is about: told by their place among the statements, by the address that they give
// themselves and by their name. The first one of a kind is often a neighbour: a teaser, a related product, a list.
import { resolveLink } from '../extract/links.ts'
import type { Graph, Role, Thing } from './graph.ts'
import { isArticleType } from './json-ld.ts'
import { idOf, isNode, listOf, type Node, own, scalarOf, textAt } from './node.ts'

export interface PageIdentity {
  /** Addresses of the page: its own, its canonical one. Without fragment. */
  readonly urls: ReadonlySet<string>
  /** The names of the page, folded: heading, title. */
  readonly titles: readonly string[]
}

/** What is known of a thing before it is read. */
interface Place {
  readonly role: Role
  /** Addresses that it gives itself, absolute, without fragment. */
  readonly urls: ReadonlySet<string>
  readonly name: string | null
}

/** @param urls absolute; what the page does not say is left out */
export const identifyPage = (
  urls: readonly (string | undefined)[],
  titles: readonly (string | null | undefined)[],
): PageIdentity => ({
  urls: new Set(urls.filter((url): url is string => url !== undefined).map(withoutFragment)),
  titles: titles.map((title) => foldName(title ?? '')).filter((title) => title.length >= 3),
})

/** Letters and digits, lower case: `Tea – Kettle` and `tea kettle` are one name. */
export const foldName = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '')

const withoutFragment = (url: string): string => url.replace(/#.*$/, '')

/** How much speaks for a thing being what the page is about; above zero where anything does. */
export function scorePlace(place: Place, page: PageIdentity): number {
  let score = 0
  if (place.role === 'main') score += 4
  if (place.role === 'listed') score -= 6
  if (hasAddress(place, page)) score += 4
  if (hasTitle(place, page)) score += 3
  return score
}

/** Whether it is known by the address of the page or by what the page is called. */
export const isNamed = (place: Place, page: PageIdentity): boolean =>
  hasAddress(place, page) || hasTitle(place, page)

const hasAddress = ({ urls }: Place, page: PageIdentity) => [...urls].some((url) => page.urls.has(url))

function hasTitle({ name }: Place, { titles }: PageIdentity): boolean {
  const folded = name === null ? '' : foldName(name)
  if (folded.length < 3) return false
  return titles.some((title) => title.includes(folded) || (title.length >= 8 && folded.includes(title)))
}

/** Addresses by which a node calls itself or its page; relative ones against `base`. */
export function addressesOf(node: Node, base: string | undefined): ReadonlySet<string> {
  const urls = new Set<string>()
  const values = [...listOf(own(node, 'url')), ...listOf(own(node, 'mainEntityOfPage')), idOf(node)]
  for (const value of values) {
    const text = scalarOf(value) ?? (isNode(value) ? (idOf(value) ?? scalarOf(own(value, 'url'))) : undefined)
    const resolved = text === undefined ? undefined : resolveLink(text, base)
    if (resolved?.absolute) urls.add(withoutFragment(resolved.url))
  }
  return urls
}

/** Pages and works that have authors and times of their own. */
const WORK =
  /^(?:Recipe|HowTo|QAPage|Question|Book|Chapter|Dataset|VideoObject|AudioObject|PodcastEpisode|Course|Review|CreativeWork|SoftwareApplication)$/
const MAX_CANDIDATES = 2000

/**
 * The work that the page is about: its article, posting, recipe. Of several articles of which none has the address or the
 * name of the page none is meant: that is a page of teasers.
 */
export function findMainWork(graph: Graph, page: PageIdentity, base: string | undefined): Thing | undefined {
  let best: Thing | undefined
  let bestScore = 0
  let unnamed: Thing | undefined
  let unnamedCount = 0
  let candidates = 0
  for (const thing of graph.things) {
    const isText = thing.types.some(isArticleType)
    if (thing.role === 'part' || !(isText || thing.types.some((type) => WORK.test(type)))) continue
    if (++candidates > MAX_CANDIDATES) break
    const { node, role } = thing
    const place = { role, urls: addressesOf(node, base), name: textAt(node, ['headline', 'name'], 500) }
    const score = scorePlace(place, page) + (isText ? 2 : 0)
    if ((isNamed(place, page) || role === 'main') && score > bestScore) [best, bestScore] = [thing, score]
    if (isText && role === 'top') {
      unnamed ??= thing
      unnamedCount++
    }
  }
  return best ?? (unnamedCount === 1 ? unnamed : undefined)
}

/** The page itself, where it is stated as a thing. */
export const findWebPage = (graph: Graph): Thing | undefined =>
  graph.things.find(
    ({ role, types }) =>
      role === 'top' && types.some((type) => /^(?:WebPage|ItemPage|AboutPage|MedicalWebPage)$/.test(type)),
  )
