// An answer as it is stored and shown: JSON as JSON, text as text, other bytes as base64; and back to the very bytes.
import type { MarketCallResult } from '../../../schemas/market-call.ts'
import type { UpstreamAnswer } from './ports.ts'

type Shown = MarketCallResult['upstream']

/** Headers that say something about the content. Nothing that sets state, names a place to go to or speaks for the gateway. */
const HEADERS = new Set(
  'content-type content-language content-disposition date etag expires last-modified deprecation sunset'.split(
    ' ',
  ),
)

/** The head of an answer has to fit into the buffers of proxies. */
const MAX_VALUE = 200

export function showAnswer(
  { status, headers, body }: UpstreamAnswer,
  { json, text }: { readonly json: unknown; readonly text: string | undefined },
): Shown {
  const shown = {
    status,
    headers: Object.fromEntries(
      Object.entries(headers).filter(([name, value]) => HEADERS.has(name) && value.length <= MAX_VALUE),
    ),
  }
  // A byte order mark is not a part of the text, but of the bytes.
  if (text === undefined || Buffer.byteLength(text) !== body.length || isDearAsText(text))
    return { ...shown, ...(json !== undefined && { json }), body_base64: body.toString('base64') }
  if (json === undefined) return { ...shown, body: text }
  return { ...shown, json, ...(JSON.stringify(json) !== text && { body: text }) }
}

/** Control characters are six bytes each in JSON: a text of them would fill the store. */
const isDearAsText = (text: string) => JSON.stringify(text).length > 2 * text.length + 16

/** The bytes as the service sent them. */
export function bytesOf({ json, body, body_base64: encoded }: Shown): Buffer {
  if (encoded !== undefined) return Buffer.from(encoded, 'base64')
  return Buffer.from(body ?? (json === undefined ? '' : JSON.stringify(json)))
}
