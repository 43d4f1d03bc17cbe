// Points of all sentences of a request -> one capability, several that it could be, or none. The addresses have a say.
import { OUTCOME_IDS, type OutcomeId } from '../../../schemas/outcome.ts'
import { type JobId, jobOf } from './jobs.ts'
import type { Side } from './vocabulary.ts'

export type Judgement = { readonly candidates: readonly OutcomeId[] } & (
  | {
      readonly kind: 'capability'
      readonly capability: OutcomeId
      /** Jobs that are asked for besides, and are not done here. */
      readonly leftOut: readonly JobId[]
    }
  | { readonly kind: 'unclear'; readonly between: readonly OutcomeId[] }
  /** Nothing is asked for but jobs that are none of ours; none are named where only the subject says so. */
  | { readonly kind: 'foreign'; readonly jobs: readonly JobId[] }
  | { readonly kind: 'nothing' }
)

/** What is read of a sentence. */
export interface Judged {
  readonly points: ReadonlyMap<Side, number>
  readonly named: readonly OutcomeId[]
  readonly undone: readonly { readonly job: JobId; readonly isFirst: boolean }[]
  readonly besides: ReadonlyMap<Side, number>
  readonly hasTopic: boolean
  readonly hasContent: boolean
  readonly asksForPage: boolean
  readonly isStrange: boolean
  readonly query: string | undefined
  readonly isQuestion: boolean
  readonly asksWhy: boolean
}

interface Sources {
  readonly urls: readonly string[]
  readonly hasHtml: boolean
}

/** Below it, without any source, a word or two is no job: "the latest" of what? What needs no source needs more words. */
const MIN_POINTS = 3
const MIN_POINTS_OF_DIGEST = 4
const FEED_ADDRESS = 4
const PAGE_ADDRESS = 1
const SHOP_ADDRESS = 2
const MARKUP_ELSEWHERE = 0.25
const NEWS_IN_QUESTION = 0.1
const PRICES_IN_QUESTION = 0.1
/** Points of a question that speaks of prices, not only of shops. */
const OF_PRICES = 4
/** A price of something that no shop page is about. */
const DECISIVE_SUBJECT = 5
/** What is asked for beside an undone job has to be said, not only addressed. */
const MIN_BESIDES = 2

/** @param sources addresses and HTML that the request has, which are hints as well */
export function judgeWords(sentences: readonly Judged[], sources: Sources): Judgement {
  const whole = judgePoints(sentences, ({ points }) => points, sources)
  const isAlone = whole.kind !== 'capability'
  const asked = undoneOf(sentences, sources).filter((job) => isAlone || jobOf(job).onlyAlone !== true)
  const unreadable = fileJobs(sources)
  if (unreadable.length > 0 && !sentences.some(({ named }) => named.length > 0))
    return { kind: 'foreign', jobs: asked.length > 0 ? asked : unreadable, candidates: whole.candidates }
  const jobs = asked
  if (jobs.length === 0)
    return isClear(whole, sentences, sources)
      ? withTopic(whole, sentences, sources)
      : { kind: 'nothing', candidates: whole.candidates }
  // A digest of the news is no summary of them, but what comes nearest to it is worth its price.
  const isOfFeeds = sources.urls.every(isFeedAddress)
  if (isOfFeeds && jobs.every((job) => job === 'summary') && isDigest(whole))
    return withTopic({ ...whole, leftOut: jobs }, sentences, sources)
  const foreign = { kind: 'foreign', jobs, candidates: whole.candidates } as const
  // What comes after "log in" or "crawl" is about a result that nobody has.
  const isBlocked = sentences.some(({ undone }) =>
    undone.some(({ job, isFirst }) => isFirst && jobs.includes(job) && jobOf(job).comesFirst === true),
  )
  if (isBlocked) return foreign
  const rest = judgePoints(sentences, ({ besides }) => besides, sources)
  const isEnough =
    rest.kind === 'capability' &&
    (rest.points >= MIN_BESIDES || (rest.points > 0 && sentences.some(({ query }) => query !== undefined)))
  return isEnough ? withTopic({ ...rest, leftOut: jobs }, sentences, sources) : foreign
}

/** An address alone is read; with words beside it, one of them has to say that it is to be read, and none something strange. */
function isClear(
  whole: Judgement & { readonly points: number },
  sentences: readonly Judged[],
  sources: Sources,
) {
  if (whole.kind !== 'capability' || sources.urls.length === 0) return true
  if (sentences.some(({ named }) => named.length > 0)) return true
  const isSaid = whole.points > 0 || sentences.some((one) => one.query !== undefined || one.asksForPage)
  const isPlain =
    isSaid || !sentences.some(({ hasContent }) => hasContent) || whole.capability === 'feed-digest'
  return isPlain && !sentences.some(({ isStrange }) => isStrange)
}

/** Jobs that are asked for and not done here. With an address in hand some are what its page is about. */
function undoneOf(sentences: readonly Judged[], { urls, hasHtml }: Sources): JobId[] {
  const hasSource = urls.length > 0 || hasHtml
  const jobs = sentences.flatMap(({ undone }) => undone.map(({ job }) => job))
  return [...new Set(jobs)].filter((job) => !hasSource || jobOf(job).onlyWithoutSource !== true)
}

const isDigest = (judgement: Judgement): judgement is Judgement & { readonly kind: 'capability' } =>
  judgement.kind === 'capability' && judgement.capability === 'feed-digest'

/** A digest of the default feeds is not the news about tea; of feeds that were named, all entries are given. */
function withTopic(judgement: Judgement, sentences: readonly Judged[], { urls }: Sources): Judgement {
  if (!sentences.some(({ hasTopic }) => hasTopic)) return judgement
  const { candidates } = judgement
  const isVague = judgement.kind === 'nothing' && candidates[0] === 'feed-digest'
  if (isVague && urls.length === 0) return { kind: 'foreign', jobs: ['topic'], candidates }
  if (!isDigest(judgement)) return judgement
  const jobs = [...judgement.leftOut, 'topic' as const]
  return urls.length > 0 ? { ...judgement, leftOut: jobs } : { kind: 'foreign', jobs, candidates }
}

function judgePoints(
  sentences: readonly Judged[],
  pointsOf: (sentence: Judged) => ReadonlyMap<Side, number>,
  sources: Sources,
): Judgement & { readonly points: number } {
  const total = (side: Side) => sentences.reduce((sum, one) => sum + (pointsOf(one).get(side) ?? 0), 0)
  const hasSource = sources.hasHtml || sources.urls.length > 0
  const scores = new Map(OUTCOME_IDS.map((id) => [id, total(id)]))
  const scoreOf = (id: OutcomeId) => scores.get(id) ?? 0
  const add = (id: OutcomeId, more: number) => scores.set(id, scoreOf(id) + more)
  const points = Math.max(...scores.values(), total('compare'))

  const isShop = sources.urls.some(isShopAddress)
  // Two pages are compared by what they say, unless prices or shops are spoken of.
  const isOfProducts = sources.urls.length === 0 || isShop || scoreOf('product-offers') > 0
  add(isOfProducts ? 'product-offers' : 'web-extraction', total('compare'))
  if (sources.urls.length > 0) {
    // Markup to be fetched is a page.
    scores.set('extract-preview', scoreOf('extract-preview') * MARKUP_ELSEWHERE)
    if (sources.urls.every(isFeedAddress)) add('feed-digest', FEED_ADDRESS)
    else {
      add('web-extraction', PAGE_ADDRESS)
      // "What happened on Friday" is asked of a page, if the address is not a feed's.
      if (sentences.some(({ isQuestion }) => isQuestion))
        scores.set('feed-digest', scoreOf('feed-digest') * NEWS_IN_QUESTION)
      // "Why did the prices rise?", "how long does shipping take?"
      const isOfPrices = scoreOf('product-offers') >= OF_PRICES && !sentences.some(({ asksWhy }) => asksWhy)
      if (!isShop && !isOfPrices && sentences.some(({ isQuestion }) => isQuestion))
        scores.set('product-offers', scoreOf('product-offers') * PRICES_IN_QUESTION)
    }
    if (scoreOf('product-offers') > 0 && isShop) add('product-offers', SHOP_ADDRESS)
  }
  const best = Math.max(...scores.values())
  const candidates = OUTCOME_IDS.filter((id) => scoreOf(id) > 0).sort((a, b) => scoreOf(b) - scoreOf(a))
  const subject = hasSource ? 0 : total('subject')
  const isForeign =
    (subject > 0 && subject >= best) || (subject >= DECISIVE_SUBJECT && candidates[0] === 'product-offers')
  if (isForeign) return { kind: 'foreign', jobs: [], candidates, points }
  const names = [...new Set(sentences.flatMap(({ named }) => named))]
  if (names.length > 1) return { kind: 'unclear', between: names, candidates, points }
  const enough = candidates[0] === 'feed-digest' ? MIN_POINTS_OF_DIGEST : MIN_POINTS
  if (best < (hasSource ? 1 : enough)) return { kind: 'nothing', candidates, points }
  const between = OUTCOME_IDS.filter((id) => scoreOf(id) === best)
  // An address that is not spelled like a feed is a page.
  const isPage =
    between.length > 1 &&
    sources.urls.length > 0 &&
    between.every((id) => id === 'web-extraction' || id === 'feed-digest')
  const [capability, ...others] = isPage ? (['web-extraction'] as const) : between
  return capability !== undefined && others.length === 0
    ? { kind: 'capability', capability, leftOut: [], candidates, points }
    : { kind: 'unclear', between, candidates, points }
}

const pathOf = (url: string) => (URL.canParse(url) ? new URL(url).pathname.toLowerCase() : '')
const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname.toLowerCase() : '')

const ENDINGS: readonly (readonly [JobId, RegExp])[] = [
  ['images', /\.(?:png|jpe?g|gif|webp|tiff?|bmp)$/],
  ['transcription', /\.(?:mp3|mp4|m4a|wav|ogg|avi|mov|mkv|webm)$/],
  ['files', /\.(?:exe|msi|dmg|apk|deb|iso|zip|rar|7z|tar|gz|docx?|xlsx?|pptx?)$/],
]
const fileJob = (url: string): JobId | undefined =>
  ENDINGS.find(([, ending]) => ending.test(pathOf(url)))?.[0]

/** A file that is no page, by its ending. */
export const isFileAddress = (url: string): boolean => fileJob(url) !== undefined

/** What somebody wants who names files alone; empty where one of the addresses may be a page. */
function fileJobs({ urls }: Sources): JobId[] {
  const jobs = urls.map(fileJob)
  return jobs.includes(undefined) ? [] : [...new Set(jobs.filter((job) => job !== undefined))]
}

/** The address is judged by its spelling alone: nothing is asked. */
const isFeedAddress = (url: string) =>
  /(?:^|[/._-])(?:feeds?|rss\d?|atom|rdf)(?:[/._-]|$)|\.xml$/.test(pathOf(url)) ||
  /^(?:feeds?|rss)\d*\./.test(hostOf(url))

const isShopAddress = (url: string) =>
  /\/(?:products?|produkte?|produits?|p|dp|item|items|shop|store|buy)(?:\/|$)/.test(pathOf(url)) ||
  /(?:^|\.)(?:shop|store)\b|\.(?:shop|store)$/.test(hostOf(url))
