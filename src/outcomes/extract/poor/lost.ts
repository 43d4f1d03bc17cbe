// Tells a page that stands in for a missing one by its address, in any language: it was asked for something that the address names in several
// words, and it is a heading and a sentence or two that say none of them, nor a word of its title, without a figure or a picture, and all that
// it leads to is the home page.
import { wordsOf } from '../../text/words.ts'
import { resolveLink } from '../links.ts'
import type { Said } from './lines.ts'

/** A longer page says something, whatever it is called. */
const MAX_WORDS = 25
/** One word is often that of a section: a page at `/about` seldom says "about". */
const MIN_ADDRESS_WORDS = 2
/** Words are compared by their beginnings: `moved` and `moving` are about the same. Shorter ones name nothing. */
const COMPARED_CHARACTERS = 4
/** A home page, or that of a language. */
const HOME_PATH = /^\/(?:[a-z]{2}(?:[-_][a-z]{2})?\/?)?(?:index\.\w{3,5})?$/i
const LATIN = /\p{Script=Latin}/u

/** @param url of the page */
export function isLost({ lines, names, links, words, hasHeading, hasMore }: Said, url: string): boolean {
  if (words > MAX_WORDS || !hasHeading || hasMore || links.length === 0) return false
  const page = URL.parse(url)
  if (!page || !links.every((href) => leadsHome(href, page))) return false
  const text = lines.join(' ')
  const address = slugOf(page)
  // An address in other letters than the text names the same thing in vain.
  if (/\p{N}/u.test(text) || LATIN.test(text) !== LATIN.test(address)) return false
  const asked = new Set(beginningsOf(address).filter((word) => word.length === COMPARED_CHARACTERS))
  if (asked.size < MIN_ADDRESS_WORDS) return false
  const title = beginningsOf(names[0] ?? '')
  const said = new Set(beginningsOf(text))
  return (
    title.length > 0 &&
    ![...title, ...asked].some((word) => said.has(word)) &&
    !title.some((word) => asked.has(word))
  )
}

function leadsHome(href: string, page: URL): boolean {
  const to = URL.parse(resolveLink(href, page.href)?.url ?? '')
  return to !== null && to.host === page.host && HOME_PATH.test(to.pathname)
}

/** The last part of the path, which names the page. */
function slugOf({ pathname }: URL): string {
  const slug = pathname.split('/').findLast((part) => part !== '') ?? ''
  try {
    return decodeURIComponent(slug)
  } catch {
    return slug
  }
}

const beginningsOf = (text: string): string[] =>
  wordsOf(text).map((word) => [...word].slice(0, COMPARED_CHARACTERS).join(''))
