// Compressed bytes in the midst of an answer, as multipart documents, framed messages, packs and logs hold them.
import { randomBytes } from 'node:crypto'
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createBudget } from '../../../../src/egress/leak/budget.ts'
import { createLeakSearch } from '../../../../src/egress/leak/search.ts'
import { Secret } from '../../../../src/lib/secret.ts'
import { zipMember } from '../../../support/zip-member.ts'

const SECRET = 'sk-q7Zk9Wm2Rt5Yp8VxB3nLc6Hd1Jf4Gs0TaUeK'
const search = createLeakSearch({ secrets: [new Secret(SECRET)], scheme: 'Bearer' })
const inspect = (body: Buffer | string, steps = 1e9) =>
  search.inspect({ statusText: 'OK', headers: [], body: Buffer.from(body) }, createBudget(steps))
const stepsOf = (body: Buffer | string) => {
  let steps = 0
  search.inspect(
    { statusText: 'OK', headers: [], body: Buffer.from(body) },
    { spend: (more) => (steps += more) },
  )
  return steps
}
const reflected = { ok: false, reason: 'reflected', where: 'body' }

/** Long enough for zstd to compress it. */
const others = Array.from({ length: 40 }, (_, i) => [`x-header-${i * 7919}`, `value ${i * i * 104_729}`])
const headers = { ...Object.fromEntries(others), authorization: `Bearer ${SECRET}` }
const echo = JSON.stringify({ id: 1, request: { headers } })
/** Bytes that are no text and hold no mark. */
const noise = (length: number) => Buffer.from(randomBytes(length).map((byte) => byte | 0x80))
const concat = (...parts: (Buffer | string)[]) => Buffer.concat(parts.map((part) => Buffer.from(part)))
const escaped = (bytes: Buffer, mark: string) =>
  [...bytes].map((byte) => `${mark}${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('')
const quotedPrintable = (bytes: Buffer) => escaped(bytes, '=').replaceAll(/.{60}/g, '$&=\r\n')
const lines = (text: string) => text.replaceAll(/.{76}/g, '$&\r\n')

/** As `gzip` writes it: with the time and the name of a file, and a checksum of its head. */
function gzipFile(text: string): Buffer {
  const head = Buffer.from([0x1f, 0x8b, 8, 4 | 8 | 16 | 2, 1, 2, 3, 4, 0, 3])
  return concat(head, '\u0002\0ab', 'debug.json\0', 'a comment\0', Buffer.from([1, 2]), deflateRawSync(text))
}
const multipart = (head: string, content: Buffer | string) =>
  concat(
    '--boundary\r\nContent-Type: application/json\r\n\r\n{"ok":true}\r\n',
    `--boundary\r\n${head}\r\n\r\n`,
    content,
    '\r\n--boundary--\r\n',
  )
const GZIP = gzipSync(echo)
const DEFLATE = deflateSync(echo)

describe('compressed bytes in the midst of others are opened', () => {
  it.each<[string, Buffer | string]>([
    ['gzip behind a length', concat(Buffer.from([1, 0, 0, 0, GZIP.length]), GZIP)],
    [
      'gzip with a file name behind a prefix, and more behind it',
      concat(noise(9), gzipFile(echo), noise(99)),
    ],
    ['gzip with a file name, and no more than a line break behind it', concat(gzipFile(echo), '\n')],
    ['gzip of a megabyte behind a prefix', concat(noise(3), gzipSync(' '.repeat(1 << 20) + echo))],
    ['the second of two members, with bytes between', concat(gzipSync('{}'), noise(9), GZIP)],
    ['deflate behind a head of an object', concat(noise(2), DEFLATE, noise(20))],
    ['the fastest deflate', concat(noise(2), deflateSync(echo, { level: 1 }))],
    ['zstd behind a prefix, with bytes behind it', concat(noise(5), zstdCompressSync(echo), noise(50))],
    ['a member of an archive behind a stub', concat(noise(512), zipMember(echo), noise(20))],
    ['gzip within a member that is not compressed', concat(noise(8), 'x', gzipSync(GZIP))],
    ['a part in gzip', multipart('Content-Encoding: gzip', GZIP)],
    ['a part in brotli', multipart('content-encoding: br', brotliCompressSync(echo))],
    [
      'a part in brotli behind a preamble',
      concat(
        'This is a message in several parts.\r\n\r\n',
        multipart('Content-Encoding: br', brotliCompressSync(echo)),
      ),
    ],
    ['a part in raw deflate', multipart('Content-Encoding: deflate', deflateRawSync(echo))],
    [
      'a part in brotli in base64',
      multipart(
        'Content-Encoding: br\r\nContent-Transfer-Encoding: base64',
        lines(brotliCompressSync(echo).toString('base64')),
      ),
    ],
    [
      'a part in base64 that is no text',
      multipart('Content-Transfer-Encoding: BASE64', lines(concat(noise(10), DEFLATE).toString('base64'))),
    ],
    [
      'a part in brotli in quoted-printable',
      multipart(
        'Content-Transfer-Encoding: quoted-printable\r\nContent-Encoding: br',
        quotedPrintable(brotliCompressSync(echo)),
      ),
    ],
    ['gzip in quoted-printable, behind text', `Subject: log\r\n\r\nHello${quotedPrintable(GZIP)}`],
    ['gzip in percent escapes, behind text', `a=1&log=%0A${escaped(GZIP, '%')}`],
    ['gzip as a string of characters in JSON', JSON.stringify({ log: `: ${GZIP.toString('latin1')}` })],
    ['deflate as a string of characters in JSON', JSON.stringify({ log: DEFLATE.toString('latin1') })],
    ['hexadecimal of gzip behind a prefix', JSON.stringify({ log: concat(noise(5), GZIP).toString('hex') })],
  ])('%s', (_what, body) => {
    expect(inspect(body)).toMatchObject(reflected)
  })

  it.each([
    ['gzip', GZIP],
    ['zstd', zstdCompressSync(echo)],
    ['a zip archive', zipMember(echo)],
  ])('%s in base64 in JSON, behind bytes of any number, in one line or in many', (_what, packed) => {
    for (let before = 1; before <= 12; before++) {
      const text = concat(noise(before), packed).toString('base64')
      expect(inspect(JSON.stringify({ frame: text })), `behind ${before}`).toMatchObject(reflected)
      expect(inspect(`frame:\n${lines(text)}\n`), `behind ${before}, in lines`).toMatchObject(reflected)
      expect(inspect(text.replaceAll('+', '-').replaceAll('/', '_'))).toMatchObject(reflected)
    }
  })
})

describe('marks that begin nothing', () => {
  it('cost no more than a look, in text of any kind', () => {
    const text = JSON.stringify({ text: 'x\\u0001 (µ/ý PK H4sI '.repeat(2_000) })
    expect(inspect(text)).toEqual({ ok: true })
    const ordinary = JSON.stringify(
      Array.from({ length: 600 }, (_, id) => ({ id, name: `repository ${id}` })),
    )
    expect(stepsOf(ordinary)).toBeLessThan(ordinary.length * 8)
  })

  it('do not stop random bytes, images or archives from passing', () => {
    for (let i = 0; i < 20; i++) expect(inspect(randomBytes(64 * 1024), 20_000_000)).toEqual({ ok: true })
    const picture = concat('\u0089PNG\r\n', noise(20), 'IDAT', deflateSync(Buffer.alloc(40 << 20)))
    expect(inspect(picture)).toEqual({ ok: true })
    const clean = JSON.stringify({ a: 1 }).repeat(99)
    expect(inspect(concat(noise(8), gzipSync(clean), DEFLATE.subarray(0, 9), zipMember(clean)))).toEqual({
      ok: true,
    })
  })

  it('by the thousand, or before more than is ever searched, are refused and never passed', () => {
    for (const mark of ['789c05', '1f8b0800000000000003ab', '504b0304000000000800'])
      expect(() => inspect(Buffer.from(mark.repeat(1 << 16), 'hex'), 5e7), mark).toThrow('budget')
    expect(() => inspect(concat(noise(3), gzipSync(Buffer.alloc(40 << 20))))).toThrow('budget')
  })
})
