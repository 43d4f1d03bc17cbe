// Everything that is read out of untrusted bytes, by name: what a process beside the gateway runs. Pure functions, no clock, no network.
import { readPage } from './extract/page.ts'
import { digestFeeds, type FeedSource } from './feeds/digest.ts'
import { readFeed } from './feeds/feed.ts'
import { readPdf } from './pdf/read.ts'
import { readProducts } from './products/page.ts'
import type { PageInput } from './reading.ts'
import { fitPage } from './text/fit.ts'
import { readSiteRules } from './text/site-rules.ts'
import { relate } from './text/relate.ts'

export const analyses = {
  /** A page, text or JSON document as a normalised document. */
  page: (input: PageInput & { /** The reading as JSON has at most so many. */ readonly maxBytes?: number }) =>
    fitPage(readPage(input), input.maxBytes ?? Number.POSITIVE_INFINITY),
  /** A PDF as a normalised document. What goes on in its library is done when this process is gone. */
  pdf: async (input: PageInput & { readonly maxBytes?: number }) =>
    fitPage(await readPdf(input), input.maxBytes ?? Number.POSITIVE_INFINITY),
  /** Products and offers that a page states in a structured form. */
  products: readProducts,
  /** Entries of a feed. */
  feed: readFeed,
  /** Entries of several feeds as one list: comparing titles is work, and the titles are theirs. */
  digest: ({ sources, limit }: { readonly sources: readonly FeedSource[]; readonly limit: number }) =>
    digestFeeds(sources, limit),
  /** Duplicates among documents, and passages that a query is about. */
  relate,
  /** What the files of a site say about automatic readers of one address. */
  siteRules: readSiteRules,
}
