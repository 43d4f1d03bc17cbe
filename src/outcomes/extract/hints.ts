// Reads what a page says it is, which decides how it is read.
import type { PageHints } from './choose.ts'
import { allTypes, isArticle, type JsonLd } from './json-ld.ts'
import { cleanText } from './text.ts'
import { attribute, type ParsedPage } from './tree.ts'

const FORUM_TYPES = ['DiscussionForumPosting', 'QAPage']
const MAX_STATED_CHARACTERS = 200_000

/** The hints of structured data and of the page's head. */
export function readHints(page: ParsedPage, jsonLd: JsonLd): PageHints {
  const types = new Set(allTypes(jsonLd))
  const isForum = FORUM_TYPES.some((type) => types.has(type))
  return {
    isForum,
    isArticle: !isForum && (jsonLd.nodes.some(isArticle) || isOpenGraphArticle(page)),
    statedText: readStatedText(jsonLd),
  }
}

const isOpenGraphArticle = ({ head }: ParsedPage) =>
  head.some(
    ({ name, attributes }) =>
      name === 'meta' &&
      attribute(attributes, 'property')?.trim().toLowerCase() === 'og:type' &&
      attribute(attributes, 'content')?.trim().toLowerCase() === 'article',
  )

/** The longest `articleBody`, `text` or `description`; markup in it is dropped, not read. */
function readStatedText({ nodes }: JsonLd): string | undefined {
  let longest = ''
  for (const node of nodes)
    for (const key of ['articleBody', 'text', 'description']) {
      const value = Object.hasOwn(node, key) ? node[key] : undefined
      if (typeof value === 'string' && value.length > longest.length) longest = value
    }
  if (longest === '') return undefined
  return cleanText(longest.slice(0, MAX_STATED_CHARACTERS).replace(/<[^<>]{0,1000}>/g, ' ')).replace(
    /[^\S\n]+/g,
    ' ',
  )
}
