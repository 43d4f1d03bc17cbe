// extract-preview: supplied HTML in, normalised document out. No network, no clock, no state.
import { toUSVString } from 'node:util'
import type { PreviewResult } from '../../../schemas/extract-preview.ts'
import { digestText } from '../digest.ts'
import { extractDocument } from '../extract/document.ts'
import type { ExtractionLimits } from '../extract/limits.ts'
import { countCharacters } from '../extract/text.ts'
import type { Capability } from '../ports.ts'
import { SAMPLE_BASE_URL, SAMPLE_HTML, SAMPLE_NOTICE } from '../sample.ts'

export const extractPreview: Capability = {
  id: 'extract-preview',
  needs: ['html'],
  uses: ['html', 'url', 'format'],
  prepare(claims, { isDemo }) {
    // Half a surrogate pair has no UTF-8: as a digest would, the text takes U+FFFD for it.
    const html = isDemo ? SAMPLE_HTML : toUSVString(String(claims.get('html')))
    const baseUrl = isDemo ? SAMPLE_BASE_URL : (claims.get('url') as string | undefined)
    const htmlSha256 = digestText(html)
    return {
      request: {
        source: isDemo ? 'sample' : 'supplied',
        html_sha256: htmlSha256,
        html_characters: countCharacters(html),
        base_url: baseUrl !== undefined && /^https?:/i.test(baseUrl) ? baseUrl : null,
      },
      async run() {
        const result = previewHtml({ html, baseUrl, isSample: isDemo })
        return {
          result,
          sourceSha256: htmlSha256,
          textSha256: digestText(result.document.text),
          sources: [],
          parts: [],
          deterministic: true,
        }
      },
    }
  },
}

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
