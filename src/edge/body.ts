// The body of a transaction as its rules read it: decoded where it is compressed, as JSON where it says so or is. What is
// forwarded are the bytes that came, whatever was read of them here.
import * as zlib from 'node:zlib'
import type { Body, Json } from '../commerce/ports.ts'
import { GatewayError } from '../core/errors.ts'
import { parseJson } from '../lib/json.ts'
import { decodeUtf8Document } from '../lib/utf8.ts'
import { isZlib } from '../outbound/encoding.ts'
import { type HeaderPairs, valuesOf } from './headers.ts'
import { block, type Finding, note } from './ports.ts'

export interface ReadBody {
  readonly body: Body
  /** Undone of its Content-Encoding; undefined where that could not be done. */
  readonly plain: Buffer | undefined
  readonly findings: readonly Finding[]
}

/** A compressed body may not come to more than one that is sent plain. */
export const MAX_DECODED_BYTES = 256 * 1024

const JSON_TYPE = /^(?:application|text)\/(?:[\w.+-]+\+)?json *(?:;|$)/i

/** JSON where the message says so, in one way or another: a second Content-Type does not hide it. */
export function readBody({ headers, body }: { headers: HeaderPairs; body: Buffer }): ReadBody {
  const saysJson = valuesOf(headers, 'content-type').some((type) => JSON_TYPE.test(type.trim()))
  if (body.length === 0)
    return {
      body: { kind: 'absent' },
      plain: body,
      findings: saysJson ? [note('json_empty', 'The body says it is JSON and is empty.')] : [],
    }
  const codings = codingsOf(headers)
  const undone = decode(body, codings)
  // `Content-Encoding: utf-8` codes nothing, as what stands there shows.
  const decoded = undone === 'unknown' && codings.length === 1 && isJson(body) ? body : undone
  if (typeof decoded === 'string') return refuseEncoded(decoded, body, saysJson)
  const text = decodeUtf8Document(decoded)
  if (text === undefined)
    return saysJson
      ? unreadable('malformed', decoded)
      : // Text in another charset, or files with text between them: what is ASCII in it is read all the same.
        { body: { kind: 'text', raw: findAscii(decoded), bytes: body }, plain: decoded, findings: [] }
  if (!saysJson && !/^\s*[[{]/.test(text))
    return { body: { kind: 'text', raw: text, bytes: body }, plain: decoded, findings: [] }
  const parsed = parse(text)
  if (parsed.ok)
    return {
      body: { kind: 'json', value: parsed.value, raw: text, bytes: body },
      plain: decoded,
      findings: [],
    }
  return saysJson
    ? unreadable(parsed.why, decoded)
    : // Text in braces that says it is something else may be that.
      { body: { kind: 'text', raw: text, bytes: body }, plain: decoded, findings: [] }
}

/** @returns runs of at least eight printable characters: shorter ones hold nothing, and files are full of them */
const findAscii = (bytes: Buffer): string =>
  (bytes.toString('latin1').match(/[\t\n\r\x20-\x7e]{8,}/g) ?? []).join('\n')

function isJson(body: Buffer): boolean {
  const text = decodeUtf8Document(body)
  return text !== undefined && parse(text).ok
}

const WORDS = {
  malformed: 'The Content-Type says JSON: send a body that is JSON in UTF-8.',
  too_deep: 'Nest the JSON body at most 32 deep.',
} as const

const unreadable = (why: keyof typeof WORDS, plain: Buffer): ReadBody => ({
  body: { kind: 'unreadable', why },
  plain,
  findings: [block('MALFORMED', WORDS[why])],
})

function parse(
  text: string,
): { readonly ok: true; readonly value: Json } | { readonly ok: false; readonly why: keyof typeof WORDS } {
  try {
    return { ok: true, value: parseJson(text) as Json }
  } catch (thrown) {
    const isDeep = thrown instanceof GatewayError && thrown.code === 'json_too_deep'
    return { ok: false, why: isDeep ? 'too_deep' : 'malformed' }
  }
}

// content codings ----------------------------------------------------------------------------------------------------

/** @returns the codings in the order in which they were applied; `identity` is none */
const codingsOf = (headers: HeaderPairs): string[] =>
  valuesOf(headers, 'content-encoding')
    .flatMap((value) => value.toLowerCase().split(','))
    .map((coding) => coding.trim().replace(/^x-(?=gzip$)/, ''))
    .filter((coding) => coding !== '' && coding !== 'identity')

type Undecodable = 'unknown' | 'malformed' | 'too_large'

const LIMIT = { maxOutputLength: MAX_DECODED_BYTES }
const DECODERS: ReadonlyMap<string, (body: Buffer) => Buffer> = new Map([
  ['gzip', (body: Buffer) => zlib.gunzipSync(body, LIMIT)],
  ['deflate', (body) => (isZlib(body) ? zlib.inflateSync(body, LIMIT) : zlib.inflateRawSync(body, LIMIT))],
  ['br', (body) => zlib.brotliDecompressSync(body, LIMIT)],
  ['zstd', (body) => zlib.zstdDecompressSync(body, LIMIT)],
])

/** Two codings count as unknown: nobody encodes twice but to hide something from somebody. */
function decode(body: Buffer, codings: readonly string[]): Buffer | Undecodable {
  const [coding, ...more] = codings
  if (coding === undefined) return body
  const undo = DECODERS.get(coding)
  if (more.length > 0 || !undo) return 'unknown'
  try {
    return undo(body)
  } catch (thrown) {
    return (thrown as { code?: unknown }).code === 'ERR_BUFFER_TOO_LARGE' ? 'too_large' : 'malformed'
  }
}

function refuseEncoded(why: Undecodable, body: Buffer, saysJson: boolean): ReadBody {
  const rest = { body: { kind: 'text', raw: '', bytes: body }, plain: undefined } as const
  if (!saysJson)
    return {
      ...rest,
      findings: [
        note(
          'body_encoded',
          'The body has a Content-Encoding that was not undone, so it was not looked into.',
        ),
      ],
    }
  return {
    ...rest,
    findings: [
      why === 'too_large'
        ? block('OVERSIZE', 'Send JSON of at most 256 KiB, counted without its Content-Encoding.')
        : block(
            'MALFORMED',
            'Send JSON with one Content-Encoding that undoes whole (gzip, deflate, br or zstd), or with none.',
          ),
    ],
  }
}
