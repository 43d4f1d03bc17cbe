// Turns bytes of a public source into a normalised document, whatever form they are in.
import type { PageReading } from '../reading.ts'
import { digestText } from '../digest.ts'
import type { PageInput, Reading } from '../reading.ts'
import { extractDocument } from './document.ts'
import { readHead, refreshStub, usageOf } from './head.ts'
import { readJson } from './json.ts'
import { PAGE_LIMITS } from './limits.ts'
import { readPlainText } from './plain-text.ts'
import { findPoorText } from './poor/judge.ts'
import { refusePoor } from './poor/reasons.ts'
import { sniffKind } from './sniff.ts'
import { decodeSource } from '../text/decode.ts'
import { startsBehind } from './written.ts'

const NOTHING_SAID = 'The source holds no word, number or symbol. Send another address.'

/** A full stop, a rule or `null` is nothing that anybody reads. */
const isReadable = (text: string): boolean => /[\p{L}\p{N}\p{So}\p{Sc}]/u.test(text) && text !== 'null'

/**
 * @returns the page as a document, or `empty`, `binary`, `type_unsupported`, `invalid_json`, `no_content`, or why there is nothing to sell in it
 */
export function readPage(input: PageInput): Reading<PageReading> {
  const kind = sniffKind(input)
  if (!kind.ok) return kind
  const { format, label } = kind
  const markup = format === 'html' ? 'html' : undefined
  const { text, charset } = decodeSource(input.body, label, { isCut: input.isCut, markup })
  const head = markup && readHead(text, input.url)
  if (head?.refreshUrl) return refreshStub(head.refreshUrl)
  const read = { html: readHtml, json: readJson, text: readPlainText }[format]
  const value = read(text, input)
  if (!('document' in value)) return { ok: false, ...value }
  const behind = startsBehind(value.document)
  if (behind !== undefined) return { ok: false, reason: 'no_content', detail: behind }
  const { text: said } = value.document
  if (!isReadable(said)) return { ok: false, reason: 'no_content', detail: NOTHING_SAID }
  // The rest of a long text may be as short.
  const poor = format === 'text' && !input.start ? findPoorText(said) : undefined
  if (poor) return refusePoor(poor)
  return {
    ok: true,
    format,
    charset,
    textSha256: digestText(value.document.text),
    usage: usageOf(head),
    value,
  }
}

function readHtml(html: string, input: PageInput) {
  const { document, cuts, mode, truncated, warnings, quality, poor } = extractDocument(
    html,
    input.url,
    PAGE_LIMITS,
    { contentLanguage: input.contentLanguage, start: input.start },
  )
  if (poor) return refusePoor(poor)
  if (document.text === '' && (document.characters ?? 0) === 0)
    return {
      reason: 'no_content' as const,
      detail:
        'The page has no text without running its scripts, which are not run. Send an address that answers with text.',
    }
  return { document, cuts, mode, quality, truncated, warnings }
}
