// Decides which parts of a page are not its content: navigation, advertising, consent, sharing, what else there is to read.
// Names are a habit and no promise, so a part that holds most of the words of a page is content whatever it is called.
import type { Surroundings } from './blocks.ts'
import { callOutOf } from './frames.ts'
import type { PageHints } from './hints.ts'
import type { Element } from './tree.ts'

export type Boilerplate = 'chrome' | 'named' | 'weak' | 'comments'

type Kind = Pick<PageHints, 'isForum' | 'isProduct'>

/** `more`: named for what else there is to read or to buy; `reviews`: for what buyers say of a product. */
type Rule = Boilerplate | 'more' | 'reviews'

/** A part that holds more than this share of the words of a page is content whatever it is called. */
const SHARES: Readonly<Record<Boilerplate, number>> = { chrome: 0.5, named: 0.5, weak: 0.25, comments: 0.5 }
/** Whole pages are wrapped in a form by some servers, and threads by forums; on the page of a product it is what one orders with. */
const FORM_SHARE = 0.15
/** Parts with a weak name and as much text are read: what is beside the main text does not get into its root. */
const MIN_PROSE_WORDS = 25
const MAX_PROSE_LINK_SHARE = 0.3
/** Of all words outside heads, feet and menus, links included. */
const LINKED_SHARE = 0.5
/** The names of tabs are fewer. */
const MAX_TAB_WORDS = 40

const CHROME = new Set(['nav', 'footer', 'aside', 'form', 'menu', 'header', 'button', 'label', 'legend'])
const CHROME_ROLES = new Set([
  'navigation',
  'banner',
  'contentinfo',
  'complementary',
  'search',
  'dialog',
  'alertdialog',
  'menu',
  'menubar',
  'toolbar',
  'tablist',
])
const NEVER = new Set([
  '#root',
  'html',
  'body',
  'main',
  'article',
  'h1',
  'h2',
  'h3',
  'p',
  'pre',
  'code',
  'table',
  'tbody',
  'tr',
])

/** Words of class and id, by what they stand for. */
const NAMES: Readonly<Record<string, string>> = {
  navigation:
    'nav navbar navigation navi menu menus submenu dropdown megamenu breadcrumb breadcrumbs crumbs pagination pager paging paginator sitemap skip skiplink topbar toolbar',
  edges: 'footer masthead bottombar offcanvas drawer logo aside',
  consent: 'ot didomi usercentrics truste cookiebot cookie cookies consent gdpr ccpa onetrust',
  sharing: 'share sharing shares sharebar social socials addthis sharedaddy follow followus sns',
  more: 'related relatedposts recommended recommendation recommendations recommend popular trending mostread readmore readnext upsell upsells crosssell crosssells outbrain taboola recirculation teaser teasers',
  selling: 'newsletter newsletters subscribe subscription subscribers signup optin advert adverts advertisement advertising adsense dfp sponsor sponsors sponsored donate',
  windows: 'modals popup popups tooltip tooltips toast snackbar',
  tools: 'login signin searchform searchbox checkbox filter filters facets sortby printonly noprint minicart cart wishlist',
  unseen: 'sronly visuallyhidden screenreadertext',
  ratings: 'jdgm judgeme yotpo bazaarvoice okendo feefo reevoo loox',
  credits: 'copyright legal policy privacy terms tags tagcloud taglist byline authorbox authorbio postmeta entrymeta metadata',
} // prettier-ignore
const MORE = new Set(NAMES['more']?.split(' '))
const MORE_INSIDE = /related|recommend/
const DENIED = new Set(Object.values(NAMES).flatMap((words) => words.split(' ')))
/** Whole layouts have these names as well, so a part which holds much of the page keeps its text. */
const WEAK = new Set(
  'sidebar sidebars widget widgets rail toc tabs ad ads promo promos promotion paywall modal overlay lightbox search disclaimer'.split(
    ' ',
  ),
)
const PAIRS = new Set(
  'tool-tip most-read most-popular read-more read-next more-stories more-news more-from also-like may-like up-sell cross-sell recently-viewed sr-only visually-hidden screen-reader skip-link side-bar sign-up opt-in author-box author-bio about-author post-meta entry-meta tag-list customers-also'.split(
    ' ',
  ),
)
/** What the members of a forum put below each of their posts. */
const SIGNATURE = /(?:^|[\s_-])(?:sig|(?:user|post)?signature)(?:$|[\s_-])/i
const LIGHTBOX = /(?:^|\s)lightbox(?:\s|$)/
/** Words of the lists that mean something else before these. */
const NO_PAIRS = new Set(['follow-up', 'follow-ups'])
const COMMENTS = new Set('comment comments commentlist disqus respond replies'.split(' '))
/** Strong enough to count inside a longer word, as in `relatedpoststitle`. */
const INSIDE = /related|newsletter|cookie|breadcrumb|sharedaddy|outbrain|taboola|recommend/
/** A part of that name is content whatever else it is called, such as `article-sidebar-layout`. */
const KEPT = new Set('article articlebody content main post body page wrapper container layout'.split(' '))

/** What an element of a page is, where it is no content. */
export type BoilerplateRules = (element: Element, around: Surroundings) => Boilerplate | undefined

/**
 * Reads names once a page: the same few return over and over.
 * @param kind what the page is, as far as it is known
 */
export function createBoilerplateRules(
  root: Element,
  { isForum, isProduct }: Kind = { isForum: false, isProduct: false },
): BoilerplateRules {
  const known = new Map<string, Rule | undefined>()
  const knownNames = new Map<string, Rule | undefined>()
  const plain = root.words - root.linkWords
  let rest: number | undefined
  let aroundTitle: ReadonlySet<Element> | undefined
  return (element, around) => {
    const { name } = element
    if (NEVER.has(name)) return undefined
    const rule = ruleOf(element, around)
    if (rule === undefined) return undefined
    // A shop may call all that it offers related: what holds most of the links is the content.
    if (rule === 'more' && element.words > (rest ??= root.words - wordsOfEdges(root)) * LINKED_SHARE)
      return undefined
    // A page about something else may have them for its content, or beside the price of each card.
    if (rule === 'reviews' && !isProduct) return undefined
    const kind: Boilerplate = rule === 'more' || rule === 'reviews' ? 'named' : rule
    if (kind !== 'chrome' && (aroundTitle ??= findAroundTitle(root)).has(element)) return undefined
    const words = element.words - element.linkWords
    // Page builders call every part of a page a widget, and sites lay panels of text into what they call tabs.
    if (
      kind === 'weak' &&
      words >= MIN_PROSE_WORDS &&
      element.linkWords < element.words * MAX_PROSE_LINK_SHARE
    )
      return undefined
    if (words >= MAX_TAB_WORDS && element.attributes['role']?.toLowerCase() === 'tablist') return undefined
    return words > plain * (name === 'form' && !isProduct ? FORM_SHARE : SHARES[kind]) ? undefined : kind
  }

  function ruleOf(element: Element, { article, section, quote }: Surroundings): Rule | undefined {
    const { name, attributes } = element
    const { role: written, class: className, id } = attributes
    const role = written?.toLowerCase()
    if (role !== undefined && CHROME_ROLES.has(role)) return 'chrome'
    // The head of a part says what it is about, the foot of a quote who said it, a call-out what to mind, a quote in a post what it answers.
    const isOfItsPart =
      (name === 'header' && article + section > 0) ||
      (name === 'footer' && quote > 0) ||
      (name === 'aside' && (callOutOf(element) !== undefined || isQuoted(element)))
    if (CHROME.has(name) && !isOfItsPart) return 'chrome'
    if (className === undefined && id === undefined) return undefined
    // A picture that opens in a larger size.
    if (name === 'a' && className !== undefined && LIGHTBOX.test(className)) return undefined
    // A chapter may be about cookies or sharing: what its heading calls it is no name of a layout.
    const names = isChapter(element) ? (className ?? '') : `${className ?? ''} ${id ?? ''}`
    if (known.has(names)) return known.get(names)
    const kind = isForum && SIGNATURE.test(names) ? 'named' : readNames(names, knownNames)
    known.set(names, kind)
    return kind
  }
}

/** What the only title of a page stands in, where that is no head and no menu. */
function findAroundTitle(root: Element): ReadonlySet<Element> {
  const titles: Element[] = []
  const stack: Element[] = [root]
  for (let element = stack.pop(); element; element = stack.pop()) {
    if (element.name === 'h1') titles.push(element)
    else
      for (const child of element.children)
        if (typeof child !== 'string' && child.words > 0) stack.push(child)
  }
  const around = new Set<Element>()
  if (titles.length !== 1) return around
  for (let at = titles[0]?.parent; at; at = at.parent) {
    if (EDGES.has(at.name)) return new Set()
    around.add(at)
  }
  return around
}

const EDGES = new Set(['header', 'footer', 'nav', 'aside'])

/** Words of heads, feet and menus, each once. */
export function wordsOfEdges(root: Element): number {
  let words = 0
  const stack: Element[] = [root]
  for (let element = stack.pop(); element; element = stack.pop())
    for (const child of element.children) {
      if (typeof child === 'string' || child.words === 0) continue
      if (EDGES.has(child.name) || child.attributes['role']?.toLowerCase() === 'navigation')
        words += child.words
      else if (child.name !== 'article' && child.holdsBlocks) stack.push(child)
    }
  return words
}

/** A part with an address of its own and a heading, as documentation has them. */
const isChapter = ({ name, attributes, children }: Element): boolean =>
  attributes['id'] !== undefined &&
  (name === 'section' || CHAPTER.test(attributes['class'] ?? '')) &&
  children.slice(0, MAX_BEFORE_HEADING).some((child) => typeof child !== 'string' && startsWithHeading(child))

const CHAPTER = /(?:^|\s)(?:section|(?:ref)?sect\d)(?:\s|$)/i
const MAX_BEFORE_HEADING = 4
const HEADING = /^h[1-6]$/
const startsWithHeading = ({ name, children }: Element): boolean =>
  HEADING.test(name) || children.some((child) => typeof child !== 'string' && HEADING.test(child.name))

/** A quote of somebody else, and none of the text itself in large letters. */
const isQuoted = ({ attributes, children }: Element): boolean =>
  !/pull-?quote/i.test(attributes['class'] ?? '') &&
  children.some((child) => typeof child !== 'string' && child.name === 'blockquote')

const MAX_NAME_CHARACTERS = 300
/** Builders of pages lay each heading and each paragraph into a part that says so. */
const BUILDERS = /^(?:hs_cos_wrapper|widget-(?:span|type)|widget_\d+$)/

/** @param known the single names that were read before */
function readNames(names: string, known: Map<string, Rule | undefined>): Rule | undefined {
  let found: Rule | undefined
  for (const name of names.slice(0, MAX_NAME_CHARACTERS).split(/\s+/)) {
    if (name === '') continue
    if (!known.has(name)) known.set(name, readName(name))
    found = strongerOf(found, known.get(name))
  }
  return found
}

/** Names of what else there is win over weaker ones, and those of anything else that is no content over them. */
function strongerOf(found: Rule | undefined, next: Rule | undefined): Rule | undefined {
  if (next === 'comments' || next === 'weak' || next === 'reviews') return found ?? next
  if (next === 'more') return found === 'named' ? 'named' : 'more'
  return next ?? found
}

function readName(name: string): Rule | undefined {
  if (BUILDERS.test(name)) return undefined
  let found: Rule | undefined
  const parts = name
    .replace(/([a-z])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .split(/[^a-z]+/)
  const isKept = KEPT.has(parts.at(-1) ?? '')
  for (const [i, part] of parts.entries()) {
    const pair = `${part}-${parts[i + 1]}`
    if (NO_PAIRS.has(pair)) continue
    if (part === 'reviews' || part === 'review') found = strongerOf(found, 'reviews')
    else if (COMMENTS.has(part)) found = strongerOf(found, 'comments')
    else if (isKept) continue
    else if (WEAK.has(part)) found = strongerOf(found, 'weak')
    else if (DENIED.has(part) || PAIRS.has(pair) || (part.length > 9 && INSIDE.test(part)))
      found = strongerOf(found, MORE.has(part) || MORE_INSIDE.test(part) ? 'more' : 'named')
  }
  return found
}
