import { randomBytes } from 'node:crypto'
import { gunzipSync } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  acceptsGzip,
  chooseCoding,
  compressKept,
  digestOf,
  hasTag,
  isText,
} from '../../../src/doors/http/coding.ts'
import { gzipFramed } from '../../../src/doors/http/gzip-frame.ts'

describe('the coding of an answer', () => {
  it.each([
    [undefined, 'identity', false],
    ['', 'identity', false],
    ['identity', 'identity', false],
    ['gzip', 'gzip', true],
    ['x-gzip', 'gzip', true],
    ['GZIP, deflate', 'gzip', true],
    ['gzip, deflate, br, zstd', 'br', true],
    ['br', 'br', false],
    ['br;q=0.5, gzip;q=0.8', 'gzip', true],
    ['br;q=0, gzip', 'gzip', true],
    ['gzip;q=0', 'identity', false],
    ['*', 'br', true],
    ['*;q=0', 'identity', false],
    ['gzip;q=0, *', 'br', false],
    ['br;q=rubbish', 'identity', false],
    ['deflate', 'identity', false],
  ])('for "%s" is %s', (accepted, coding, gzip) => {
    const req = { headers: accepted === undefined ? {} : { 'accept-encoding': accepted } }
    // The second time it is remembered.
    for (let i = 0; i < 2; i++) expect([chooseCoding(req), acceptsGzip(req)]).toEqual([coding, gzip])
  })

  it('is for texts', () => {
    for (const type of [
      'text/html; charset=utf-8',
      'application/json',
      'application/linkset+json; profile="x"',
    ])
      expect(isText(type)).toBe(true)
    for (const type of ['image/png', 'application/octet-stream', 'application/jsonish'])
      expect(isText(type)).toBe(false)
  })
})

it.each([
  [undefined, false],
  ['"a"', true],
  ['W/"a"', true],
  ['"b", W/"a"', true],
  ['*', true],
  ['"a-gzip"', false],
  ['a', false],
])('If-None-Match %s has the tag: %s', (known, expected) => {
  expect(hasTag({ headers: known === undefined ? {} : { 'if-none-match': known } }, '"a"')).toBe(expected)
})

describe('a compressed text within a frame', () => {
  it('is one gzip of the three', () => {
    fc.assert(
      fc.property(
        fc.uint8Array(),
        fc.uint8Array({ maxLength: 3000 }),
        fc.uint8Array(),
        (head, text, tail) => {
          const parts = [head, text, tail].map((bytes) => Buffer.from(bytes)) as [Buffer, Buffer, Buffer]
          const [first, , last] = parts
          for (const frame of [first, Buffer.from('another')]) {
            const packed = gzipFramed(frame, parts[1], last)
            expect(packed && gunzipSync(packed)).toEqual(Buffer.concat([frame, parts[1], last]))
          }
        },
      ),
      { numRuns: 50 },
    )
  })

  it('is smaller than it was, and not made where the frame is too long', () => {
    const text = Buffer.from(JSON.stringify(Array.from({ length: 500 }, (_, id) => ({ id, name: 'a tool' }))))
    expect(gzipFramed(Buffer.from('{'), text, Buffer.from('}'))?.length).toBeLessThan(text.length / 4)
    expect(gzipFramed(Buffer.alloc(65_535), text, Buffer.alloc(0))).toBeDefined()
    expect(gzipFramed(Buffer.alloc(65_536), text, Buffer.alloc(0))).toBeUndefined()
  })
})

it('what was compressed is kept, and the oldest goes where there is no room', async () => {
  // Random bytes stay as many: three are more than the 8 MiB that are kept.
  const bodies = [1, 2, 3].map(() => randomBytes(3 * 1024 * 1024))
  const compressed = bodies.map((body) => () => compressKept(body, 'gzip', digestOf(body)))
  const [oldest, middle, newest] = compressed
  if (!oldest || !middle || !newest) throw new Error('three bodies')
  const first = [oldest(), middle(), newest()]
  // Those that are asked for meanwhile are made once.
  expect(newest()).toBe(first[2])
  for (const [at, made] of first.entries()) expect(gunzipSync(await made)).toEqual(bodies[at])
  expect(middle()).toBe(first[1])
  expect(newest()).toBe(first[2])
  expect(oldest()).not.toBe(first[0])
})
