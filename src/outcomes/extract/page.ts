// Bytes of a public source -> normalised document, whatever form they are in.
import type { ContentWarning, ExtractedDocument } from '../../../schemas/document.ts'
import type { PageInput, Reading } from '../ports.ts'

export interface PageReading {
  readonly document: ExtractedDocument
  readonly json?: unknown
  readonly mode: string
  readonly truncated: readonly string[]
  readonly warnings: readonly ContentWarning[]
}

export function readPage(_input: PageInput): Reading<PageReading> {
  return { ok: false, reason: 'unreadable', detail: 'not built yet' }
}
