// Who wrote a page, as it states that: structured data, then meta tags, then marks on what readers see. An address, a date or a
// role is no name; what does not look like one is left out rather than guessed.
import { isNode, listOf, type Node, own, scalarOf, textAt, tidy } from '../structured/node.ts'
import { foldName } from '../structured/main.ts'
import type { JsonLd } from '../structured/json-ld.ts'
import type { MetaTags } from './meta-tags.ts'
import { pushReversed } from './elements.ts'
import { collapseSpaces } from './text.ts'
import { attribute, type Element, elementsBelow, type ParsedPage } from './tree.ts'

const MAX_AUTHORS = 20
const MAX_NAME_CHARACTERS = 120

/** The names in the order of the page, each once; empty where it states none. */
export function readAuthors(
  page: ParsedPage,
  sources: { jsonLd: JsonLd; works: readonly Node[]; meta: MetaTags; houses: readonly (string | null)[] },
): string[] {
  const stated = statedAuthors(sources)
  const houses = new Set(sources.houses.map((house) => foldName(house ?? '')))
  // Systems put the house for everybody who writes there: a person whom readers see is meant before it.
  if (stated.some((name) => !houses.has(foldName(name)))) return stated
  const shown = unique(shownNames(page))
  return shown.length > 0 ? shown : stated
}

function statedAuthors({
  jsonLd,
  works,
  meta,
}: {
  jsonLd: JsonLd
  works: readonly Node[]
  meta: MetaTags
}): string[] {
  for (const work of works)
    for (const key of ['author', 'creator']) {
      const names = unique(listOf(own(work, key)).flatMap((value) => namesOf(jsonLd.graph.deref(value))))
      if (names.length > 0) return names
    }
  for (const key of META_NAMES) {
    const names = unique(meta.all(key).map(statedName))
    if (names.length > 0) return names
  }
  return []
}

const META_NAMES = [
  'citation_author',
  'author',
  'dc.creator',
  'dcterms.creator',
  'article:author',
  'parsely-author',
  'sailthru.author',
  'byl',
]

function unique(names: readonly (string | null)[]): string[] {
  const known = new Map<string, string>()
  for (const name of names)
    if (name !== null) known.set(name.toLowerCase(), known.get(name.toLowerCase()) ?? name)
  return [...known.values()].slice(0, MAX_AUTHORS)
}

/** A person or an organisation, or only its name. */
function namesOf(value: unknown): (string | null)[] {
  if (!isNode(value)) return [statedName(scalarOf(value))]
  const names = listOf(own(value, 'name')).map((name) => statedName(scalarOf(name)))
  if (names.length > 0) return names
  const other = textAt(value, ['alternateName', 'legalName', '@value'], MAX_NAME_CHARACTERS)
  if (other !== null) return [statedName(other)]
  const parts = ['givenName', 'familyName'].map((key) => textAt(value, [key], MAX_NAME_CHARACTERS))
  return [statedName(parts.filter((part) => part !== null).join(' '))]
}

const LEAD =
  /^(?:(?:(?:written|posted|published|story|words|article|created|text|review(?:ed)?|last (?:edited|updated))\s+)?by\b\s*:?\s*|(?:authors?|auteur|autore?|verfasser|geschrieben von|von|par|por|écrit par|escrito por|scritto da|door)\s*:?\s+|(?:بقلم|كتبه?|الكاتب|تأليف)\s*:?\s+)/iu
const ADDRESS = /^(?:https?:|www\.|\/|@)|\.(?:com|org|net|html?|php)\b|\S@\S/i
/** Names of accounts and of nothing: whoever wrote it is not known by them. */
const NOBODY =
  /^(?:admin(?:istrator)?|user|guest|unknown|anonymous|null|undefined|none|n\/a|author|authors|default|webmaster|root|editor|wordpress|test|\d+)$/i

/** A name as a machine is told it. */
function statedName(text: string | undefined): string | null {
  const name = tidy(text, MAX_NAME_CHARACTERS)?.replace(LEAD, '').trim()
  if (!name || ADDRESS.test(name) || NOBODY.test(name) || !/\p{L}/u.test(name)) return null
  return name
}

// What readers see

const MAX_CANDIDATES = 60
const MAX_LINE_CHARACTERS = 160
/** Elements before and behind the title among which a byline stands. */
const BEFORE_TITLE = 30
const BEHIND_TITLE = 120

/** A byline is small: what is larger is not searched, so that nested marks around a whole page cost nothing. */
const MAX_ELEMENTS_BELOW = 60

const isSmall = ({ start, end }: Element) => end - start <= MAX_ELEMENTS_BELOW

/** The beginnings of the texts below, in order. */
function piecesOf(element: Element): string[] {
  const pieces: string[] = []
  const stack: (Element | string)[] = [element]
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (typeof node === 'string') pieces.push(collapseSpaces(node.slice(0, 2 * MAX_LINE_CHARACTERS)).trim())
    else pushReversed(stack, node.children)
  }
  return pieces.filter((piece) => piece !== '')
}

const BYLINE_CLASS =
  /(?:^|[\s_-])(?:byline|by-line|author|authors|post-?author|author-?name|entry-author|posted-?by|username|contributor|writer)(?:$|[\s_-])/i
/** Parts of a box about an author that hold no name. */
const NO_NAME_CLASS =
  /author[\w-]*[_-](?:title|role|job|bio|desc\w*|about|image|avatar|img|photo|social|position)/i
const OTHERS =
  /(?:^|[\s_-])(?:comments?|respond|reply|replies|related|recommend\w*|sidebar|widget|footer|teasers?|cards?|more-?(?:posts|stories|from)|testimonials?|reviews?)(?:$|[\s_-])/i

type Mark = 'itemprop' | 'rel' | 'class' | 'by'

/** From the surest mark to the weakest; the first that gives a name decides. */
function shownNames(page: ParsedPage): string[] {
  const marked: Record<Mark, Element[]> = { itemprop: [], rel: [], class: [], by: [] }
  const title = findTitle(page)
  let looked = 0
  for (const element of page.all) {
    const isNear =
      title !== undefined &&
      element.start >= title.start - BEFORE_TITLE &&
      element.start <= title.end + BEHIND_TITLE
    const mark = markOf(element.attributes, isNear) ?? (isNear && startsWithBy(element) ? 'by' : undefined)
    if (mark === undefined) continue
    if (++looked > MAX_CANDIDATES) break
    if (!isBesideText(element)) marked[mark].push(element)
  }
  for (const mark of ['itemprop', 'rel', 'class', 'by'] as const) {
    const read = (element: Element) => namesShownIn(element, mark)
    const first = marked[mark].find((element) => read(element).length > 0)
    if (!first) continue
    // Several authors stand together; another one elsewhere is that of another text.
    const together = marked[mark].filter(({ parent }) => parent === first.parent)
    return (mark === 'itemprop' || mark === 'rel' ? together : [first]).flatMap(read)
  }
  return []
}

const findTitle = (page: ParsedPage): Element | undefined =>
  page.all.find(({ name, words }) => name === 'h1' && words > 0)

function markOf(attributes: Readonly<Record<string, string>>, isNear: boolean): Mark | undefined {
  const property = attribute(attributes, 'itemprop')
  if (property !== undefined && /(?:^|\s)author(?:\s|$)/i.test(property)) return 'itemprop'
  const rel = attribute(attributes, 'rel')
  if (rel !== undefined && /(?:^|\s)author(?:\s|$)/i.test(rel)) return 'rel'
  const names = isNear ? attribute(attributes, 'class') : undefined
  return names !== undefined && names.length < 500 && BYLINE_CLASS.test(names) && !NO_NAME_CLASS.test(names)
    ? 'class'
    : undefined
}

function startsWithBy(element: Element): boolean {
  if (element.words < 2 || element.words > 25 || !isSmall(element)) return false
  return /^\s*(?:(?:written|posted|published)\s+)?by\b/i.test(piecesOf(element).join(' '))
}

/** Comments, sidebars and teasers have authors of their own. */
function isBesideText(element: Element): boolean {
  for (let at: Element | undefined = element, levels = 0; at && levels < 12; at = at.parent, levels++) {
    if (at.name === 'footer' || at.name === 'aside') return true
    if (at === element) continue
    const names = `${attribute(at.attributes, 'class') ?? ''} ${attribute(at.attributes, 'id') ?? ''}`
    const property = attribute(at.attributes, 'itemprop') ?? ''
    if (at.name !== 'body' && names.length < 500 && OTHERS.test(names)) return true
    if (/(?:^|\s)(?:comment|review|suggestedAnswer|acceptedAnswer)(?:\s|$)/.test(property)) return true
  }
  return false
}

function namesShownIn(element: Element, kind: Mark): string[] {
  if (!isSmall(element)) return []
  if (kind === 'itemprop') {
    const content = attribute(element.attributes, 'content')
    if (content !== undefined) return [statedName(content)].filter((name) => name !== null)
    for (const inner of elementsBelow(element))
      if (/(?:^|\s)name(?:\s|$)/.test(attribute(inner.attributes, 'itemprop') ?? '')) {
        const name = statedName(attribute(inner.attributes, 'content') ?? piecesOf(inner).join(' '))
        return name === null ? [] : [name]
      }
  }
  const line = lineOf(element)
  if (line.length > MAX_LINE_CHARACTERS) return []
  return namesInLine(line, kind === 'class' || kind === 'by')
}

/** What stands in elements of its own stands for itself: a role is no part of a name. `By` and `and` belong to what follows. */
function lineOf(element: Element): string {
  const pieces = piecesOf(element)
  return pieces
    .join('\n')
    .replace(JOINED, ' $1 ')
    .replace(/(\bby|:)\n/gi, '$1 ')
    .trim()
}

const JOINED = /\n?((?:^|(?<=\n))(?:and|&|,|und|et|y|with)(?=\n))\n/giu

const LINE_ENDS =
  /\s*(?:[|•·⋅∙/–—\n]|\s(?:co-?)?founder\b|\s(?:editor|staff writer|contributor|writer|ceo)\b|\s-\s|,?\s+(?:(?:last\s+)?(?:updated|published|posted|modified|reviewed)|on|in|at|for|is|from)\b|,?\s*(?:\d|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+\d))/iu
/** Particles that names write small. */
const PARTICLE = /^(?:de|da|di|do|dos|du|del|della|der|den|van|von|bin|ibn|al|el|la|le|y|e|of|the)$/i

/** `By Jane Doe and John Roe | 3 March`: the two names; empty for a line that holds no name. */
function namesInLine(line: string, isLoose: boolean): string[] {
  const bare = line.replace(LEAD, '')
  const hasLead = bare !== line
  const end = LINE_ENDS.exec(bare)?.index ?? bare.length
  const names = bare
    .slice(0, end)
    .split(/\s*,\s*(?:and\s+)?|\s+(?:and|&|und|et|y|with)\s+/iu)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const good = names.filter((name) => statedName(name) !== null && looksLikeName(name, isLoose && !hasLead))
  return good.length > 0 && good[0] === names[0] ? good : []
}

function looksLikeName(name: string, isStrict: boolean): boolean {
  const words = name.split(/\s+/)
  if (name.length > 60 || words.length > 5 || /[?!:;"“”<>{}[\]=…]/.test(name)) return false
  if (isStrict && words.length < 2) return false
  return words.every((word) => PARTICLE.test(word) || !/^\p{Ll}/u.test(word)) || words.length === 1
}
