// Reads what a page says it is, which decides how it is read: in structured data, in its head, in its address.
import { allTypes, isArticle, type JsonLd } from '../structured/json-ld.ts'
import { type Node, own, typesOf } from '../structured/node.ts'
import { cleanText } from './text.ts'
import { attribute, type ParsedPage } from './tree.ts'

export interface PageHints {
  readonly isArticle: boolean
  /** In structured data. Open Graph says it of any page of some systems, lists of products among them. */
  readonly isStatedArticle: boolean
  /** Threads of posts: what elsewhere are comments is the content here. */
  readonly isForum: boolean
  /** In structured data, not by its address alone. */
  readonly isStatedForum: boolean
  /** One thing for sale: what else the page offers is advertising. */
  readonly isProduct: boolean
  /** Main text that structured data carries. */
  readonly statedText: string | undefined
}

const FORUM_TYPES = ['DiscussionForumPosting', 'QAPage']
/** A segment of the path that forums have, whatever they run on. */
const FORUM_PATH =
  /\/(?:forums?|threads?|boards?|bbs|discussions?|viewtopic|showthread|questions(?=\/\d))(?:[/.?]|$)/i
/** Where the largest shops show one thing, with its number; they state nothing else of it. */
const PRODUCT_PATH = /\/(?:dp|gp\/product|itm)\/(?:[\w%-]{1,200}\/)?[A-Z0-9]{8,16}(?:[/?#]|$)/
const PRODUCT_ITEM = /^\s*https?:\/\/schema\.org\/product\/?\s*$/i
/** Variants of one product are stated one by one now and then; a list of products states more of them. */
const MAX_PRODUCTS = 2
const MAX_STATED_CHARACTERS = 200_000

/** The hints of structured data, of the page's head and of its address. */
export function readHints(page: ParsedPage, jsonLd: JsonLd, url: string | undefined): PageHints {
  const types = new Set(allTypes(jsonLd))
  const openGraph = openGraphType(page)
  const isStatedArticle = jsonLd.nodes.some(isArticle)
  const isAnyArticle = isStatedArticle || openGraph === 'article'
  const offered = jsonLd.nodes.filter(isOffered).length
  const isProduct =
    !isStatedArticle &&
    ((offered > 0 && offered <= MAX_PRODUCTS) ||
      /^(?:og:)?product(?:\.item)?$/.test(openGraph) ||
      (offered === 0 && isSold(page, url)))
  const isStatedForum = FORUM_TYPES.some((type) => types.has(type))
  const isForum = isStatedForum || (!isAnyArticle && url !== undefined && FORUM_PATH.test(url))
  return {
    isForum,
    isStatedForum,
    isStatedArticle: isStatedArticle && !isForum,
    isArticle: isAnyArticle && !isForum && !isProduct,
    isProduct: isProduct && !isForum,
    statedText: readStatedText(jsonLd),
  }
}

const isOffered = (node: Node) =>
  own(node, 'offers') !== undefined &&
  typesOf(node).some((type) => type === 'Product' || type === 'ProductGroup')

/** By microdata of one product, or by the address. */
function isSold({ all }: ParsedPage, url: string | undefined): boolean {
  if (url !== undefined && PRODUCT_PATH.test(url)) return true
  const items = all.filter(({ attributes }) => PRODUCT_ITEM.test(attribute(attributes, 'itemtype') ?? ''))
  return items.length > 0 && items.length <= MAX_PRODUCTS
}

const openGraphType = ({ head }: ParsedPage): string => {
  const meta = head.find(
    ({ name, attributes }) =>
      name === 'meta' && attribute(attributes, 'property')?.trim().toLowerCase() === 'og:type',
  )
  return meta ? (attribute(meta.attributes, 'content') ?? '').trim().toLowerCase() : ''
}

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
