// The body as content, by the mode that was asked for. A complete answer is always delivered: where the wish cannot be
// met, the bytes come another way and `parse_error` says why.
import { parseJson } from '../lib/json.ts'
import { GatewayError } from '../core/errors.ts'
import { type Decoded, decodeText, isUtf8 } from '../outbound/charset.ts'
import { type ContentType, isJson, isTextual, parseContentType } from '../outbound/media-type.ts'
import { hasInexactNumber } from '../outbound/numbers.ts'

export interface ContentRequest {
  readonly body: Buffer
  readonly isCut: boolean
  /** Content-Type as sent; undefined where there is none. */
  readonly contentType: string | undefined
  readonly mode: 'auto' | 'text' | 'json'
  /** Its Content-Encoding could not be undone: bytes is all it is. */
  readonly isOpaque: boolean
}

export type ParseError = 'not_json' | 'truncated' | 'too_deep' | 'content_encoding' | 'inexact_number'

export interface Content {
  readonly content_kind: 'text' | 'json' | 'base64' | 'none'
  readonly content: unknown
  readonly charset: Decoded['charset'] | null
  readonly parse_error?: ParseError
}

/** Doors and stored results carry a document on; what is deeper than this stays text. */
const MAX_JSON_DEPTH = 64

/** The body as the caller asked for it: text, JSON or base64; what cannot be read so says why in `parse_error`. */
export function readContent(request: ContentRequest): Content {
  const { body, mode, isOpaque } = request
  if (body.length === 0) return { content_kind: 'none', content: null, charset: null }
  if (isOpaque) return { ...base64(body), parse_error: 'content_encoding' }
  const type = parseContentType(request.contentType)
  if (mode === 'json') return readJson(request, type, true)
  if (mode === 'text') return text(request, type)
  if (isJson(type.essence)) return readJson(request, type, false)
  return isText(type.essence, request) ? text(request, type) : base64(body)
}

/** @param isWanted JSON was asked for, whatever the source calls it: what is not JSON has no content then, and fetch.ts refuses it */
function readJson(request: ContentRequest, type: ContentType, isWanted: boolean): Content {
  // JSON is UTF-8 (RFC 8259, 8.1) whatever its Content-Type adds; a mark may still say otherwise.
  const decoded = decodeText(request.body, 'utf-8', { isCut: request.isCut, markup: undefined })
  const failed = (parse_error: ParseError): Content =>
    isWanted
      ? { content_kind: 'none', content: null, charset: decoded.charset, parse_error }
      : { ...text(request, type), parse_error }
  if (request.isCut) return failed('truncated')
  try {
    const content = parseJson(decoded.text, MAX_JSON_DEPTH)
    const parse_error = hasInexactNumber(decoded.text) ? 'inexact_number' : undefined
    return { content_kind: 'json', content, charset: decoded.charset, ...(parse_error && { parse_error }) }
  } catch (thrown) {
    const isDeep = thrown instanceof GatewayError && thrown.code === 'json_too_deep'
    return failed(isDeep ? 'too_deep' : 'not_json')
  }
}

function text({ body, isCut }: ContentRequest, { essence, charset }: ContentType): Content {
  const markup = /^(?:text\/html|application\/xhtml\+xml)$/.test(essence)
    ? 'html'
    : /[/+]xml$/.test(essence)
      ? 'xml'
      : essence === ''
        ? 'html'
        : undefined
  const decoded = decodeText(body, charset, { isCut, markup })
  return { content_kind: 'text', content: decoded.text, charset: decoded.charset }
}

const base64 = (body: Buffer): Content => ({
  content_kind: 'base64',
  content: body.toString('base64'),
  charset: null,
})

/** Content without a type, or with the one for no type at all, is text if it is UTF-8 and has none of what text does not hold. */
function isText(essence: string, { body, isCut }: ContentRequest): boolean {
  if (isTextual(essence)) return true
  if (essence !== '' && essence !== 'application/octet-stream') return false
  // oxlint-disable-next-line no-control-regex
  return isUtf8(body, isCut) && !/[\0-\x08\x0e-\x1a\x1c-\x1f]/.test(body.toString('latin1'))
}
