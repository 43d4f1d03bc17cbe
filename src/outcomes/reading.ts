// Bytes as they came, and what they turned out to be. Types only.
import type { ContentWarning, ExtractedDocument } from '../../schemas/document.ts'
import type { RetrievedSource, SourceReason } from '../../schemas/sources.ts'

/** Everything an analysis may look at: no clock, no network. */
export interface PageInput {
  readonly body: Uint8Array
  readonly isCut: boolean
  /** The header as it was sent. */
  readonly contentType: string | null
  readonly contentLanguage: string | null
  readonly url: string
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
      readonly value: T
    }
  | { readonly ok: false; readonly reason: SourceReason; readonly detail: string }

export interface PageReading {
  readonly document: ExtractedDocument
  /** The value of a JSON source, where it is small enough to be sent along. */
  readonly json?: unknown
  /** How the main text was found. */
  readonly mode: string
  /** Names of what reached a limit. */
  readonly truncated: readonly string[]
  readonly warnings: readonly ContentWarning[]
}
