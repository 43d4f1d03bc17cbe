// Points of all sentences of a request -> one capability, several that it could be, or none. The addresses have a say.
import { OUTCOME_IDS, type OutcomeId } from '../../../schemas/outcome.ts'
import type { Side } from './vocabulary.ts'

export type Judgement = { readonly candidates: readonly OutcomeId[] } & (
  | { readonly kind: 'capability'; readonly capability: OutcomeId }
  | { readonly kind: 'unclear'; readonly between: readonly OutcomeId[] }
  /** A job that is none of ours. */
  | { readonly kind: 'foreign' }
  | { readonly kind: 'nothing' }
)

/** Below it, without any source, a word or two is no job: "the latest" of what? What needs no source needs more words. */
const MIN_POINTS = 3
const MIN_POINTS_OF_DIGEST = 4
const DECISIVE_FOREIGN = 8
const FEED_ADDRESS = 4
const PAGE_ADDRESS = 1
const SHOP_ADDRESS = 2
const MARKUP_ELSEWHERE = 0.25
/** A price of something that no shop page is about. */
const DECISIVE_SUBJECT = 5

/** @param sources addresses and HTML that the request has, which are hints as well */
export function judgeWords(
  sentences: readonly { readonly points: ReadonlyMap<Side, number>; readonly named: readonly OutcomeId[] }[],
  sources: { readonly urls: readonly string[]; readonly hasHtml: boolean },
): Judgement {
  const total = (side: Side) => sentences.reduce((sum, { points }) => sum + (points.get(side) ?? 0), 0)
  const hasSource = sources.hasHtml || sources.urls.length > 0
  const scores = new Map(OUTCOME_IDS.map((id) => [id, total(id)]))
  const scoreOf = (id: OutcomeId) => scores.get(id) ?? 0
  const add = (id: OutcomeId, more: number) => scores.set(id, scoreOf(id) + more)

  if (sources.urls.length > 0) {
    // Markup to be fetched is a page.
    scores.set('extract-preview', scoreOf('extract-preview') * MARKUP_ELSEWHERE)
    if (sources.urls.every(isFeedAddress)) add('feed-digest', FEED_ADDRESS)
    else add('web-extraction', PAGE_ADDRESS)
    if (scoreOf('product-offers') > 0 && sources.urls.some(isShopAddress)) add('product-offers', SHOP_ADDRESS)
  }
  const best = Math.max(...scores.values())
  const candidates = OUTCOME_IDS.filter((id) => scoreOf(id) > 0).sort((a, b) => scoreOf(b) - scoreOf(a))
  const subject = hasSource ? 0 : total('subject')
  const foreign = total('foreign') + subject
  const isForeign =
    total('foreign') >= DECISIVE_FOREIGN ||
    (foreign > 0 && foreign >= best) ||
    (subject >= DECISIVE_SUBJECT && candidates[0] === 'product-offers')
  if (isForeign) return { kind: 'foreign', candidates }
  const names = [...new Set(sentences.flatMap(({ named }) => named))]
  if (names.length > 1) return { kind: 'unclear', between: names, candidates }
  const enough = candidates[0] === 'feed-digest' ? MIN_POINTS_OF_DIGEST : MIN_POINTS
  if (best < (hasSource ? 1 : enough)) return { kind: 'nothing', candidates }
  const between = OUTCOME_IDS.filter((id) => scoreOf(id) === best)
  const [capability, ...others] = between
  return capability !== undefined && others.length === 0
    ? { kind: 'capability', capability, candidates }
    : { kind: 'unclear', between, candidates }
}

const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname.toLowerCase() : '')
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '')

/** The address is judged by its spelling alone: nothing is asked. */
const isFeedAddress = (url: string) =>
  /(?:^|[/._-])(?:feeds?|rss\d?|atom|rdf)(?:[/._-]|$)|\.xml$/.test(pathOf(url)) ||
  /^(?:feeds?|rss)\d*\./.test(hostOf(url))

const isShopAddress = (url: string) =>
  /\/(?:products?|produkte?|produits?|p|dp|item|items|shop|store|buy)(?:\/|$)/.test(pathOf(url)) ||
  /(?:^|\.)(?:shop|store)\b|\.(?:shop|store)$/.test(hostOf(url))
