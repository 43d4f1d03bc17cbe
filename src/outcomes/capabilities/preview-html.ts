// The preview of supplied HTML: what extraction reads of it.
import type { PreviewResult } from '../../../schemas/extract-preview.ts'
import { extractDocument } from '../extract/document.ts'
import type { ExtractionLimits } from '../extract/limits.ts'
import { countCharacters } from '../extract/text.ts'
import { SAMPLE_NOTICE } from '../sample.ts'

interface PreviewRequest {
  readonly html: string
  /** The base that relative links are resolved against; undefined leaves them relative. */
  readonly baseUrl: string | undefined
  readonly isSample: boolean
}

/** A page of 12,288 characters rarely meets any of them; they bound what a page made to multiply its output can do. */
const LIMITS: ExtractionLimits = {
  textCharacters: 32_768,
  links: 100,
  linksElsewhere: 100,
  headings: 200,
  tables: 50,
  cells: 5000,
}

/** The preview of one page: its document, what of it was read, and warnings. */
export function previewHtml({ html, baseUrl, isSample }: PreviewRequest): PreviewResult {
  const extraction = extractDocument(html, baseUrl, LIMITS)
  return {
    sample: isSample,
    sample_notice: isSample ? SAMPLE_NOTICE : null,
    source: {
      origin: isSample ? 'sample' : 'supplied',
      trust: 'untrusted',
      characters: countCharacters(html),
      bytes: Buffer.byteLength(html, 'utf8'),
      base_url: extraction.baseUrl ?? null,
      ...(isSample ? { html } : {}),
    },
    document: extraction.document,
    coverage: {
      mode: extraction.mode,
      elements: extraction.elements,
      skipped_elements: extraction.skippedElements,
      truncated: [...extraction.truncated],
    },
    warnings: [...extraction.warnings],
  }
}
