// The headers that a source is asked with, by what the outcome needs.
import { PRODUCT_TOKEN } from '../limits.ts'
import type { Wanted } from '../ports.ts'

export const ACCEPT: Readonly<Record<Wanted, string>> = {
  page: 'text/html,application/xhtml+xml,text/plain;q=0.9,application/json;q=0.9,application/pdf;q=0.8,*/*;q=0.5',
  product: 'text/html,application/xhtml+xml,*/*;q=0.5',
  feed:
    'application/atom+xml,application/rss+xml,application/feed+json,application/rdf+xml;q=0.9,' +
    'application/xml;q=0.9,text/xml;q=0.9,application/json;q=0.8,*/*;q=0.5',
  robots: 'text/plain,application/json;q=0.9,*/*;q=0.5',
}

/** @param about the page that says who asks, and how to keep it away */
export const userAgentOf = (about: string | undefined) =>
  `${PRODUCT_TOKEN}/5${about === undefined ? '' : ` (+${about})`}`
/** Connections of outcomes are shared among outcomes only: no credential ever travels on one. */
export const PARTITION = 'outcomes'
/** The size of one source, as sent and decompressed. */
export const MAX_SOURCE_BYTES = 2 * 1024 * 1024
/** The same as sent. RFC 9309, 2.5: a longer robots.txt is read up to there. */
export const MAX_BYTES: Readonly<Record<Wanted, number>> = {
  page: MAX_SOURCE_BYTES,
  product: MAX_SOURCE_BYTES,
  feed: MAX_SOURCE_BYTES,
  robots: 500 * 1024,
}
