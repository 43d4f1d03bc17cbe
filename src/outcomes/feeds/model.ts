// Holds what a feed says, as it says it: every vocabulary mapped to one shape. Nothing is cut or judged yet.
import type { FeedDate } from './dates.ts'
import type { XmlElement } from './xml.ts'

/** Text before it is read as text: most entries of a long feed are never shown. */
export type Construct =
  | { readonly kind: 'text' | 'html'; readonly value: string }
  | { readonly kind: 'tree'; readonly element: XmlElement }

export interface Person {
  readonly name: string | null
  readonly email: string | null
  readonly url: string | null
}

/** The members that feeds and entries have in common. Addresses are absolute. */
export interface Described {
  readonly title: Construct | null
  readonly summary: Construct | null
  readonly content: Construct | null
  readonly link: string | null
  /** The id as stated; resolved where it is the address of an entry. */
  readonly id: string | null
  readonly authors: readonly Person[]
  readonly published: FeedDate | null
  readonly updated: FeedDate | null
  readonly created: FeedDate | null
  /** A date of which the feed does not say what happened then (Dublin Core). */
  readonly date: FeedDate | null
  readonly rights: Construct | null
  readonly language: string | null
  readonly categories: readonly string[]
}

export interface ParsedEntry extends Described {
  /** The feed it was taken from, where it says so. */
  readonly origin: { readonly title: Construct | null; readonly link: string | null } | null
}

export interface ParsedFeed extends Described {
  /** Such as `rss-2.0`, `atom-1.0`, `rdf-1.0`, `json-feed-1.1`. */
  readonly format: string
  readonly entries: readonly ParsedEntry[]
  /** The number of entries seen; more than what is in `entries`, where it reached the limit. */
  readonly entriesSeen: number
  /** The feed holds more than what was read. */
  readonly isTruncated: boolean
  readonly issues: readonly string[]
}

export const MAX_ENTRIES = 20_000
