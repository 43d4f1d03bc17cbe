// Bytes as they came, and what they turned out to be. Types only.
import type { ContentWarning, DocumentQuality, ExtractedDocument } from '../../schemas/document.ts'
import type { Cut } from './text/cut.ts'
import type { RetrievedSource, SourceReason } from '../../schemas/sources.ts'

/** Everything an analysis may look at: no clock, no network. */
export interface PageInput {
  readonly body: Uint8Array
  readonly isCut: boolean
  /** The header as it was sent. */
  readonly contentType: string | null
  readonly contentLanguage: string | null
  readonly url: string
  /** The time at which the source last said so, in milliseconds: a fact about the bytes, and no clock. */
  readonly retrievedAt?: number | undefined
  /** Offset in the text, in Unicode characters, at which a document is to begin; 0 unless said. */
  readonly start?: number | undefined
}

/** What a page says in its head about its use. */
export interface PageUsage {
  /** Of `<meta>` elements for robots, as one list with commas. */
  readonly robots: string
  readonly tdmReservation: string | null
  readonly tdmPolicy: string | null
}

export type Charset = NonNullable<RetrievedSource['charset']>

/** The result of reading bytes: what they turned out to be, or why they are of no use. */
export type Reading<T> =
  | {
      readonly ok: true
      readonly format: RetrievedSource['format']
      readonly charset: Charset | null
      /** The digest of the normalised text; null where there is none. */
      readonly textSha256: string | null
      /** Left out where the source is no page, or says nothing. */
      readonly usage?: PageUsage | undefined
      readonly value: T
    }
  | {
      readonly ok: false
      readonly reason: SourceReason
      readonly detail: string
      /** The address that the bytes send their reader on to, as they have it but absolute. */
      readonly lead?: { readonly kind: 'meta_refresh' | 'feed_link'; readonly url: string } | undefined
    }

export interface PageReading {
  readonly document: ExtractedDocument
  /** The value of a JSON source, where it is small enough to be sent along. */
  readonly json?: unknown
  /** How the main text was found. */
  readonly mode: string
  /** Of a PDF, also those that were not read. */
  readonly pages?: number
  /** Of pages; text and JSON are taken as they are. */
  readonly quality?: DocumentQuality
  /** Where it may be cut to fit: only until it is fitted. */
  readonly cuts?: readonly Cut[] | undefined
  /** Names of what reached a limit. */
  readonly truncated: readonly string[]
  readonly warnings: readonly ContentWarning[]
}
