import { describe, expect, it } from 'vitest'
import {
  createCutter,
  cutHead,
  findPart,
  MARGIN_BYTES,
  passedRanges,
  readRange,
  widenedHeaders,
} from '../../../../src/egress/relay/ranges.ts'
import type { StreamedAnswer } from '../../../../src/egress/ports.ts'

const M = MARGIN_BYTES
const asked = (value: string, name = 'Range', method = 'GET', search = '') =>
  readRange({ headers: [[name, value]], method, search })
const partOf = (value: string) => asked(value)!.part

describe('a part that a program asks for', () => {
  it.each([
    ['bytes=0-99', `bytes=0-${99 + M}`],
    ['bytes=100-', 'bytes=0-'],
    [`bytes=${M}-${M}`, `bytes=0-${2 * M}`],
    [`Bytes = ${M + 7} - ${M + 8} `, `bytes=7-${2 * M + 8}`],
    ['bytes=-100', `bytes=-${100 + M}`],
  ])('is asked for with a mebibyte on either side: %s', (value, widened) =>
    expect(widenedHeaders(asked(value)!, [])).toEqual([['range', widened]]),
  )

  it.each([['x-ms-range'], ['X_Ms_Range']])('may be asked for as Azure does: %s', (name) =>
    expect(widenedHeaders(asked('bytes=0-9', name)!, [])).toEqual([['x-ms-range', `bytes=0-${9 + M}`]]),
  )

  it('keeps its condition, but for a token of the gateway', () => {
    const condition = (value: string) => widenedHeaders(asked('bytes=5-')!, [['If-Range', value]])
    expect(condition('"v1"')).toContainEqual(['if-range', '"v1"'])
    expect(condition(`"agw_cap_${'x'.repeat(43)}"`)).toHaveLength(1)
  })

  it.each([
    ['several', [['range', 'bytes=0-1,5-6']]],
    ['in two headers', [['range', 'bytes=0-1'], ['x-ms-range', 'bytes=5-6']]], // prettier-ignore
    ['in one header twice', [['range', 'bytes=0-1'], ['Range', 'bytes=5-6']]], // prettier-ignore
    ['without an end', [['range', 'bytes=-']]],
    ['that ends before it begins', [['range', 'bytes=5-4']]],
    ['of nothing', [['range', 'bytes=-0']]],
    ['with an end that no number holds', [['range', `bytes=0-${'9'.repeat(16)}`]]],
    ['under a name that some servers take for it', [['request-range', 'bytes=0-1']]],
    ['under such a name, in another spelling', [['Request_Range', 'bytes=0-1']]],
    ['in no form at all', [['range', 'bytes 0-1']]],
  ] as [string, [string, string][]][])(
    'is refused where it is none that can be cut out: %s',
    (_what, headers) =>
      expect(() => readRange({ headers, method: 'GET', search: '' })).toThrow(
        expect.objectContaining({ code: 'header_forbidden', reason: 'range' }),
      ),
  )

  it.each(['items=0-1', '0-9', 'id ..; max=1000', 'name a..z; order=desc', ''])(
    'is none in another unit, which servers may leave unread: %s',
    (value) => expect(asked(value)).toBeUndefined(),
  )

  it('is none with another method than GET and HEAD', () => {
    expect(asked('bytes=0-1', 'range', 'POST')).toBeUndefined()
    expect(asked('bytes=0-1,5-6', 'range', 'PUT')).toBeUndefined()
    expect(asked('bytes=0-1', 'range', 'HEAD')).toBeDefined()
  })

  it.each([
    ['PUT', '?comp=page'],
    ['PUT', ''],
    ['GET', '?a=1&comp=pagelist'],
    ['GET', '?COMP=pagelist'],
  ])('is none where Azure is told a place in an object, which passes as it is: %s %s', (method, search) => {
    expect(asked('bytes=0-511', 'X-Ms-Range', method, search)).toBeUndefined()
    const headers = [
      ['X-Ms-Range', 'bytes=0-511'],
      ['Range', 'bytes=0-1'],
      ['x-ms-range', `agw_cap_${'x'.repeat(43)}`],
    ] as const
    expect(passedRanges({ headers, method, search })).toEqual([['x-ms-range', 'bytes=0-511']])
  })

  it('of which the margins are asked for passes in no other form', () => {
    const headers = [['x-ms-range', 'bytes=0-511']] as const
    expect(passedRanges({ headers, method: 'GET', search: '?company=1' })).toEqual([])
  })

  it('is none where no header asks for one', () =>
    expect(readRange({ headers: [['if-range', '"v1"']], method: 'GET', search: '' })).toBeUndefined())
})

describe('a part that comes', () => {
  const coming = (range: string | undefined, declaredBytes?: number) => ({
    headers: range === undefined ? [] : [{ name: 'content-range', value: range }],
    declaredBytes,
  })

  it.each([
    ['bytes=2-4', 'bytes 0-9/10', { comingBytes: 10, skippedBytes: 2, bytes: 3, range: 'bytes 2-4/10' }],
    ['bytes=2-400', 'bytes 0-9/10', { comingBytes: 10, skippedBytes: 2, bytes: 8, range: 'bytes 2-9/10' }],
    ['bytes=-4', 'bytes 0-9/10', { comingBytes: 10, skippedBytes: 6, bytes: 4, range: 'bytes 6-9/10' }],
    ['bytes=-40', 'bytes 0-9/10', { comingBytes: 10, skippedBytes: 0, bytes: 10, range: 'bytes 0-9/10' }],
    [
      `bytes=${2 * M}-${2 * M + 1}`,
      `bytes ${M}-${3 * M + 1}/${9 * M}`,
      { comingBytes: 2 * M + 2, skippedBytes: M, bytes: 2, range: `bytes ${2 * M}-${2 * M + 1}/${9 * M}` },
    ],
    ['bytes=10-', 'bytes 0-9/10', { totalBytes: 10 }],
  ])('is found in it: %s in %s', (value, range, expected) =>
    expect(findPart(partOf(value), coming(range))).toEqual(expected),
  )

  it.each([
    ['of which nobody says which', 'bytes=2-4', undefined],
    ['of an unknown whole', 'bytes=2-4', 'bytes 0-9/*'],
    ['in another unit', 'bytes=2-4', 'items 0-9/10'],
    ['without what is before it', 'bytes=2-4', 'bytes 2-9/10'],
    ['without what is behind it', 'bytes=2-4', 'bytes 0-4/10'],
    ['that begins too early', `bytes=${2 * M}-`, `bytes 0-${3 * M}/${3 * M + 1}`],
    ['that ends too late', 'bytes=2-4', `bytes 0-${M + 5}/${9 * M}`],
    ['of nothing', 'bytes=2-4', 'bytes 0-0/0'],
  ])('is refused where it is another: %s', (_what, value, range) =>
    expect(findPart(partOf(value), coming(range))).toBe('other'),
  )

  it('is refused where it has another length than it says, and where it says twice what it is', () => {
    expect(findPart(partOf('bytes=2-4'), coming('bytes 0-9/10', 9))).toBe('other')
    const { headers } = coming('bytes 0-9/10')
    expect(findPart(partOf('bytes=2-4'), { headers: [...headers, ...headers], declaredBytes: 10 })).toBe(
      'other',
    )
  })

  it('has a head of its own: what is said of the whole stays, checksums of what comes do not', () => {
    const names =
      'etag repr-digest content-range content-length content-md5 content-digest x-amz-checksum-crc32'
    const headers = names.split(' ').map((name) => ({ name, value: 'x' }))
    const part = { comingBytes: 10, skippedBytes: 2, bytes: 3, range: 'bytes 2-4/10' }
    expect(cutHead({ headers } as unknown as StreamedAnswer, part).headers).toEqual([
      { name: 'etag', value: 'x' },
      { name: 'repr-digest', value: 'x' },
      { name: 'content-range', value: 'bytes 2-4/10' },
      { name: 'content-length', value: '3' },
    ])
  })

  it.each([1, 2, 3, 7, 10])('is the same in pieces of any size: %d', (size) => {
    const whole = Buffer.from('0123456789')
    for (let from = 0; from < 10; from++)
      for (let to = from; to < 10; to++) {
        const cut = createCutter({ comingBytes: 10, skippedBytes: from, bytes: to - from + 1, range: '' })
        const pieces = Array.from({ length: Math.ceil(10 / size) }, (_, i) =>
          whole.subarray(i * size, (i + 1) * size),
        )
        expect(String(Buffer.concat(pieces.map(cut)))).toBe(String(whole.subarray(from, to + 1)))
      }
  })
})
