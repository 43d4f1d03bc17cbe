// Bytes of a feed -> what it says of itself and its entries. RSS 0.9x to 2.0, RDF, Atom 0.3 and 1.0, JSON Feed 1.0 and 1.1.
import type { PageInput, Reading } from '../ports.ts'

export interface ParsedFeed {
  /** Such as `rss-2.0`, `atom-1.0`, `rdf-1.0`, `json-feed-1.1`. */
  readonly format: string
}

export function readFeed(_input: PageInput): Reading<ParsedFeed> {
  return { ok: false, reason: 'not_a_feed', detail: 'not built yet' }
}
