// Turns bytes of a public source into a normalised document, whatever form they are in.
import type { PageReading } from '../reading.ts'
import { decodeText } from '../../outbound/charset.ts'
import { digestText } from '../digest.ts'
import type { PageInput, Reading } from '../reading.ts'
import { extractDocument } from './document.ts'
import { readJson } from './json.ts'
import { PAGE_LIMITS } from './limits.ts'
import { readPlainText } from './plain-text.ts'
import { sniffKind } from './sniff.ts'

/**
 * @returns the page as a document, or `empty`, `binary`, `type_unsupported`, `invalid_json`, `no_content`
 */
export function readPage(input: PageInput): Reading<PageReading> {
  const kind = sniffKind(input)
  if (!kind.ok) return kind
  const { format, label } = kind
  const markup = format === 'html' ? 'html' : undefined
  const { text, charset } = decodeText(input.body, label, { isCut: input.isCut, markup })
  const read = { html: readHtml, json: readJson, text: readPlainText }[format]
  const value = read(text, input)
  if (!('document' in value)) return { ok: false, ...value }
  return { ok: true, format, charset, textSha256: digestText(value.document.text), value }
}

function readHtml(html: string, input: PageInput) {
  const { document, mode, truncated, warnings } = extractDocument(html, input.url, PAGE_LIMITS, {
    contentLanguage: input.contentLanguage,
  })
  if (document.text === '')
    return {
      reason: 'no_content' as const,
      detail:
        'The page has no text without running its scripts, which are not run. Send an address that answers with text.',
    }
  return { document, mode, truncated, warnings }
}
