// A part of an answer (RFC 9110, 14). Whoever chooses where a part ends could have the secret in pieces that are each too short to be found.
// So the upstream is asked for a mebibyte more on either side: all of it is searched, and the part is cut out of that.
import { GatewayError } from '../../core/errors.ts'
import { findEncodedToken } from '../../lib/tokens.ts'
import type { HeaderPairs } from '../headers.ts'
import { StreamBroken, type StreamedAnswer } from '../ports.ts'
import type { AskedPart, AskedRange } from '../request.ts'
import { spelled } from './headers.ts'

/**
 * As much as what is packed is unpacked of, and as short parts of a secret count together over (scanner.ts): what is searched with a part is
 * what would be searched with it in the whole. Of what is no longer than this the whole is asked for.
 */
export const MARGIN_BYTES = 1024 * 1024

const RANGES: ReadonlySet<string> = new Set(['range', 'x-ms-range', 'request-range'])
const ONE_OF_BYTES = /^bytes *= *(?:(\d{1,15}) *- *(\d{0,15})|- *(\d{1,15}))$/i
/** Of other units, and with other methods, nobody has to know a range (RFC 9110, 14.2): without it comes what may come anyway. */
const OF_BYTES = /^bytes\b/i
const RANGED_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

interface Ranging {
  readonly headers: HeaderPairs
  readonly method: string
  /** Query with its `?`, or empty. */
  readonly search: string
}

/**
 * To Azure it says where a request writes, or, with `comp` in the query, about what of an object it asks: no part of an answer, and what would be
 * written elsewhere with a margin around it.
 */
const namesPlace = ({ method, search }: Ranging) =>
  !RANGED_METHODS.has(method) ||
  Array.from(new URLSearchParams(search).keys()).some((name) => name.toLowerCase() === 'comp')

/** @returns what passes as it is: a part that came for it is one that nobody asked for */
export const passedRanges = (asked: Ranging): HeaderPairs =>
  namesPlace(asked)
    ? asked.headers
        .filter(([name, value]) => spelled(name) === 'x-ms-range' && !findEncodedToken(value))
        .map(([name, value]) => [name.toLowerCase(), value] as const)
    : []

/**
 * @returns undefined where a program asks for no part
 * @throws {GatewayError} header_forbidden for bytes that are not one range: without it the answer would be another than was asked for
 */
export function readRange(asked: Ranging): AskedRange | undefined {
  if (!RANGED_METHODS.has(asked.method)) return undefined
  const given = asked.headers.filter(
    ([name, value]) =>
      RANGES.has(spelled(name)) &&
      OF_BYTES.test(value.trim()) &&
      !(spelled(name) === 'x-ms-range' && namesPlace(asked)),
  )
  const [only] = given
  if (!only) return undefined
  const [name, value] = [spelled(only[0]), only[1].trim()]
  const part = readPart(value)
  if (given.length > 1 || name === 'request-range' || !part)
    throw new GatewayError(
      'header_forbidden',
      `Leave out the request header ${name}, or ask for one range of bytes in one header Range (bytes=0-1023, bytes=1024-, bytes=-1024). ` +
        'Nothing was sent or charged.',
      { reason: 'range', extras: { header: name } },
    )
  return { header: name === 'range' ? name : 'x-ms-range', value, part }
}

function readPart(value: string): AskedPart | undefined {
  const [match, from = '', to = '', suffix] = ONE_OF_BYTES.exec(value) ?? []
  if (match === undefined) return undefined
  if (suffix !== undefined) return Number(suffix) > 0 ? { suffix: Number(suffix) } : undefined
  const [first, last] = [Number(from), to === '' ? undefined : Number(to)]
  return last !== undefined && last < first ? undefined : { first, last }
}

/** @returns the headers that ask for the part with its margins, and on which condition the program wants a part at all */
export function widenedHeaders({ header, part }: AskedRange, given: HeaderPairs): HeaderPairs {
  const condition = given.find(([name, value]) => /^if-range$/i.test(name) && !findEncodedToken(value))
  return [[header, `bytes=${widened(part)}`], ...(condition ? [['if-range', condition[1]] as const] : [])]
}

function widened(part: AskedPart): string {
  if ('suffix' in part) return `-${part.suffix + MARGIN_BYTES}`
  const { first, last } = part
  return `${Math.max(0, first - MARGIN_BYTES)}-${last === undefined ? '' : last + MARGIN_BYTES}`
}

/** Where the part lies in what came. */
export interface Part {
  /** Bytes that come, with the margins. */
  readonly comingBytes: number
  /** Bytes of them before the part. */
  readonly skippedBytes: number
  readonly bytes: number
  /** Content-Range of the part. */
  readonly range: string
}

/** The whole is so long, in bytes, and ends before the part begins. */
export interface Beyond {
  readonly totalBytes: number
}

/**
 * @param answer of the status 206
 * @returns `other` for a part that was not asked for, or that does not say which it is
 */
export function findPart(
  part: AskedPart,
  { headers, declaredBytes }: Pick<StreamedAnswer, 'headers' | 'declaredBytes'>,
): Part | Beyond | 'other' {
  const said = headers.filter(({ name, trailer }) => name === 'content-range' && !trailer)
  const [, ...numbers] = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/i.exec(said[0]?.value.trim() ?? '') ?? []
  const [from, to, total] = numbers.map(Number)
  if (said.length !== 1 || from === undefined || to === undefined || total === undefined) return 'other'
  const [first, last] =
    'suffix' in part
      ? [Math.max(0, total - part.suffix), total - 1]
      : [part.first, Math.min(part.last ?? total - 1, total - 1)]
  const isAsked =
    from === Math.max(0, first - MARGIN_BYTES) &&
    to === Math.min(last + MARGIN_BYTES, total - 1) &&
    from <= to
  if (!isAsked) return 'other'
  // There is no body behind the head of a HEAD.
  if (declaredBytes !== undefined && declaredBytes !== 0 && declaredBytes !== to - from + 1) return 'other'
  if (first >= total) return { totalBytes: total }
  return {
    comingBytes: to - from + 1,
    skippedBytes: first - from,
    bytes: last - first + 1,
    range: `bytes ${first}-${last}/${total}`,
  }
}

/** Checksums of what comes are none of the part; those of the whole have other names. */
const OF_CONTENT = /^(?:content-(?:md5|digest)|x-ms-content-crc64|x-amz-checksum-.+)$/

/** The head of the part, made of the head of what comes. */
export const cutHead = (answer: StreamedAnswer, { bytes, range }: Part): StreamedAnswer => ({
  ...answer,
  headers: answer.headers
    .filter(({ name }) => !OF_CONTENT.test(name))
    .map((header) => {
      if (header.name === 'content-range') return { ...header, value: range }
      return header.name === 'content-length' ? { ...header, value: String(bytes) } : header
    }),
})

export type Cutter = (piece: Buffer) => Buffer

/** Cuts the part out of what comes, piece after piece. */
export function createCutter({ skippedBytes, bytes }: Part): Cutter {
  let at = 0
  return (piece) => {
    const [from, to] = [skippedBytes - at, skippedBytes + bytes - at]
    at += piece.length
    return piece.subarray(Math.min(Math.max(0, from), piece.length), Math.min(Math.max(0, to), piece.length))
  }
}

/** @throws {StreamBroken} where the upstream said another length of a part, without the header that is checked anyway */
export function checkLength(size: number, part: Part | undefined): void {
  if (part && size !== part.comingBytes) throw new StreamBroken('malformed')
}
