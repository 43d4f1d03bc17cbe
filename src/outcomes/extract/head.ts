// Reads what the head of a page says to machines: where it sends its readers on to, which feed it has, how it may be used. Runs over a
// bounded part of the page, so that it costs the same for every page.
import { readHtml } from './events.ts'
import { PRODUCT_TOKEN } from '../limits.ts'
import type { PageUsage } from '../reading.ts'
import { resolveLink } from './links.ts'

export interface PageHead {
  /** The address that browsers go on to at once; null where they stay. */
  readonly refreshUrl: string | null
  /** The first feed that the page names. */
  readonly feedUrl: string | null
  /** What `<meta>` says to robots, in lower case, as one list with commas. */
  readonly robots: string
  /** `tdm-reservation` and `tdm-policy` of the TDM Reservation Protocol; null where the page says nothing. */
  readonly tdmReservation: string | null
  readonly tdmPolicy: string | null
}

const MAX_CHARACTERS = 64 * 1024
const MAX_ROBOTS_CHARACTERS = 1000
const FEED_TYPES = /^\s*application\/(?:rss\+xml|atom\+xml|rdf\+xml|feed\+json)\s*(?:;|$)/i
const ROBOTS_NAMES = new Set(['robots', PRODUCT_TOKEN.toLowerCase()])

/**
 * @param html the whole page
 * @param url of the page: relative addresses are resolved against it or its `<base>`
 */
export function readHead(html: string, url: string): PageHead {
  const start = html.slice(0, MAX_CHARACTERS)
  const body = start.search(/<body[\s>]/i)
  let base: string | undefined
  let refresh: string | undefined
  let feed: string | undefined
  let robots = ''
  let reservation: string | null = null
  let policy: string | null = null
  const open: string[] = []
  // What is only there for browsers without scripts leads to a page that asks for scripts.
  let unscripted = 0

  readHtml(body < 0 ? start : start.slice(0, body), {
    onOpen(name, attributes) {
      open.push(name)
      if (name === 'noscript') unscripted++
      if (unscripted > 0) return
      if (name === 'base') base ??= attributes['href']
      if (name === 'link' && isFeed(attributes)) feed ??= attributes['href']
      if (name !== 'meta') return
      const { content = '' } = attributes
      if (attributes['http-equiv']?.trim().toLowerCase() === 'refresh') refresh ??= content
      const called = attributes['name']?.trim().toLowerCase() ?? ''
      if (ROBOTS_NAMES.has(called) && robots.length < MAX_ROBOTS_CHARACTERS)
        robots += `${robots === '' ? '' : ', '}${content.slice(0, MAX_ROBOTS_CHARACTERS).toLowerCase()}`
      if (called === 'tdm-reservation') reservation ??= content.trim().slice(0, 8)
      if (called === 'tdm-policy') policy ??= content
    },
    onClose() {
      if (open.pop() === 'noscript') unscripted--
    },
    onText() {},
    onComment() {},
  })

  const declared = base === undefined ? undefined : resolveLink(base, url)
  const from = declared?.absolute ? declared.url : url
  const resolve = (href: string | undefined) => {
    const link = href === undefined ? undefined : resolveLink(href, from)
    return link?.absolute && /^https?:/.test(link.url) ? link.url : null
  }
  const refreshUrl = resolve(refresh === undefined ? undefined : readRefresh(refresh))
  return {
    refreshUrl: refreshUrl !== null && isSame(refreshUrl, url) ? null : refreshUrl,
    feedUrl: resolve(feed),
    robots,
    tdmReservation: reservation,
    tdmPolicy: resolve(policy ?? undefined),
  }
}

const isFeed = (attributes: Readonly<Record<string, string>>) =>
  /(?:^|\s)alternate(?:\s|$)/i.test(attributes['rel'] ?? '') && FEED_TYPES.test(attributes['type'] ?? '')

/** The address of a refresh after no time at all, as the HTML Standard reads it; a page that waits is a page. */
function readRefresh(content: string): string | undefined {
  const written = content.trim().slice(0, 4096)
  const rest = /^0+(?:\.[\d.]*)?\s*[;,\s]\s*(.*)$/s.exec(written)?.[1]
  if (rest === undefined) return undefined
  const value = rest.replace(/^url\s*=\s*/i, '')
  const quote = value[0]
  if (quote !== '"' && quote !== "'") return value
  const end = value.indexOf(quote, 1)
  return value.slice(1, end < 0 ? undefined : end)
}

/** A page that loads itself again stays where it is. */
function isSame(one: string, other: string): boolean {
  const [first, second] = [new URL(one), URL.parse(other)]
  first.hash = ''
  if (second) second.hash = ''
  return first.href === second?.href
}

/** Refuses a page that nobody ever sees: browsers leave it before they show it. */
export const refreshStub = (url: string) =>
  ({
    ok: false,
    reason: 'refresh_stub',
    detail: 'The page sends its readers on at once. Send the address in redirect_to instead.',
    lead: { kind: 'meta_refresh', url },
  }) as const

/** What a head says about the use of its page; nothing where it says nothing, as nearly everywhere. */
export function usageOf(head: PageHead | undefined): PageUsage | undefined {
  if (!head || (head.robots === '' && head.tdmReservation === null)) return undefined
  const { robots, tdmReservation, tdmPolicy } = head
  return { robots, tdmReservation, tdmPolicy }
}
