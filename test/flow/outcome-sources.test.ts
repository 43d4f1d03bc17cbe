// Every way in which one source can fail or be odd, on the wire: real HTTPS servers, a real name server, the gateway's own
// way out. Each has its own reason, and none of them an exception.
import type { ServerResponse } from 'node:http'
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { analyses } from '../../src/outcomes/analyses.ts'
import type { SourceReader, Wanted } from '../../src/outcomes/ports.ts'
import { createReader } from '../../src/outcomes/sources/reader.ts'
import { startSources, type TestSources } from '../support/sources.ts'
import { type RawUpstream, startRawUpstream, startUpstream, type TestUpstream } from '../support/upstream.ts'

const HOST = 'news.example.com'
const MIB = 1024 * 1024
let world: TestSources
let raw: RawUpstream
let answerRaw: Parameters<typeof startRawUpstream>[1]
let impostor: TestUpstream
let reader: SourceReader

beforeAll(async () => {
  world = await startSources(HOST)
  raw = await startRawUpstream(await world.ca.leaf(HOST), (...args) => answerRaw(...args))
  impostor = await startUpstream(await world.ca.leaf('elsewhere.example.com'))
  world.parts.rules.ports.push(raw.port, impostor.port)
})
afterAll(async () => {
  await world?.close()
  await Promise.all([raw?.close(), impostor?.close()])
})
beforeEach(() => {
  Object.assign(world.policy, { denied_hosts: [], paused: false })
  reader = createReader(world.parts)
})

type Respond = (res: ServerResponse) => void
async function read(
  respond: Respond | undefined,
  { url = world.url('/page'), timeoutMs = 30_000, wanted = 'page' as Wanted } = {},
) {
  if (respond) world.upstream.respond((_request, res) => respond(res))
  return reader.read(url, { wanted, timeoutMs, maxAgeSeconds: 0, signal: new AbortController().signal })
}
const atRaw = () => `https://${HOST}:${raw.port}/`
const send =
  (status: number, headers: Record<string, string>, body: string | Buffer = ''): Respond =>
  (res) =>
    res.writeHead(status, headers).end(body)
const textOf = (result: Awaited<ReturnType<typeof read>>) =>
  result.ok ? result.source.body.toString() : result.reason

describe('on the way', () => {
  it('says that a name does not exist', async () => {
    const before = world.upstream.connections
    expect(await read(undefined, { url: world.url('/', 'nowhere.example.com') })).toMatchObject({
      ok: false,
      reason: 'name_not_found',
      detail: expect.stringMatching(/spelling/),
    })
    expect(world.upstream.connections).toBe(before)
  })

  it('says that a name server does not answer, within the time of the source', async () => {
    world.dns.set('silent.example.com', { silent: true })
    expect(
      await read(undefined, { url: world.url('/', 'silent.example.com'), timeoutMs: 200 }),
    ).toMatchObject({
      reason: 'name_unresolved',
    })
    world.dns.set('broken.example.com', { rcode: 2 })
    expect(await read(undefined, { url: world.url('/', 'broken.example.com') })).toMatchObject({
      reason: 'name_unresolved',
    })
  })

  it.each([
    ['10.1.2.3', 'A'],
    ['169.254.169.254', 'A'],
    ['::1', 'AAAA'],
    ['::ffff:10.0.0.1', 'AAAA'],
  ])('refuses a name that leads to %s', async (address, type) => {
    world.dns.set('inside.example.com', { [type]: [address] })
    expect(await read(undefined, { url: world.url('/', 'inside.example.com') })).toMatchObject({
      reason: 'target_blocked',
      detail: expect.stringMatching(/not public/),
    })
  })

  it('refuses a name with one address that is not public among those that are', async () => {
    world.dns.set('mixed.example.com', { A: ['127.0.0.1', '192.168.0.1'] })
    expect(await read(undefined, { url: world.url('/', 'mixed.example.com') })).toMatchObject({
      reason: 'target_blocked',
    })
  })

  it('asks a name again with every read, and takes no other answer than the one it looked at', async () => {
    let calls = 0
    world.dns.set('rebinding.example.com', (type) =>
      type === 'A' ? { A: [calls++ === 0 ? '127.0.0.1' : '10.0.0.1'] } : {},
    )
    const { ca } = world
    const rebinding = await startUpstream(await ca.leaf('rebinding.example.com'))
    world.parts.rules.ports.push(rebinding.port)
    rebinding.respond((_request, res) => res.end('first'))
    const url = `https://rebinding.example.com:${rebinding.port}/`
    try {
      expect(textOf(await read(undefined, { url }))).toBe('first')
      expect(calls).toBe(1)
      expect(await read(undefined, { url })).toMatchObject({ reason: 'target_blocked' })
      expect(rebinding.requests).toHaveLength(1)
    } finally {
      await rebinding.close()
    }
  })

  it('refuses what the operator denies, below the denied name too, and everything while paused', async () => {
    const before = world.upstream.requests.length
    world.policy.denied_hosts.push('example.com')
    expect(await read(undefined)).toMatchObject({
      reason: 'target_blocked',
      detail: expect.stringMatching(/operator/),
    })
    Object.assign(world.policy, { denied_hosts: [], paused: true })
    expect(await read(undefined)).toMatchObject({ reason: 'egress_paused' })
    expect(world.upstream.requests).toHaveLength(before)
    world.policy.paused = false
    expect(textOf(await read(send(200, {}, 'open')))).toBe('open')
  })

  it('says that nobody listens', async () => {
    const closed = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => closed.once('listening', resolve))
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    world.parts.rules.ports.push(port)
    expect(await read(undefined, { url: `https://${HOST}:${port}/` })).toMatchObject({
      reason: 'connect_failed',
    })
  })

  it('refuses the certificate of another host', async () => {
    expect(await read(undefined, { url: `https://${HOST}:${impostor.port}/` })).toMatchObject({
      reason: 'tls_failed',
      detail: expect.stringMatching(/certificate/),
    })
    expect(impostor.requests).toEqual([])
  })

  it('says that what answers does not speak TLS', async () => {
    const plain = createServer((socket) =>
      socket
        .resume()
        .on('error', () => {})
        .end('HTTP/1.1 200 OK\r\n\r\n'),
    )
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    const { port } = plain.address() as AddressInfo
    world.parts.rules.ports.push(port)
    expect(await read(undefined, { url: `https://${HOST}:${port}/` })).toMatchObject({ reason: 'tls_failed' })
    await new Promise((resolve) => plain.close(resolve))
  })

  it.each([
    ['before an answer', 'connection_lost', ''],
    [
      'in the middle of a body of declared length',
      'connection_lost',
      'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc',
    ],
    [
      'in the middle of a chunked body',
      'connection_lost',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab',
    ],
    ['in the middle of the head', 'connection_lost', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['with something that is not HTTP', 'malformed_response', 'SSH-2.0-OpenSSH\r\n\r\n'],
    [
      'with two lengths',
      'malformed_response',
      'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc',
    ],
    ['with a head that never stops', 'malformed_response', `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(40_000)}`],
  ])('says that a connection ended %s: %s', async (_, reason, bytes) => {
    answerRaw = (socket) => void (bytes === '' ? socket.destroy() : socket.end(bytes))
    expect(await read(undefined, { url: atRaw() })).toMatchObject({ ok: false, reason })
  })

  it('reads an answer that ends with its connection', async () => {
    answerRaw = (socket) => void socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nall of it')
    expect(textOf(await read(undefined, { url: atRaw() }))).toBe('all of it')
  })

  it('gives up a head that does not come, and a body that drips', async () => {
    answerRaw = () => {}
    // The name is looked up and the request is sent well within it.
    expect(await read(undefined, { url: atRaw(), timeoutMs: 2_500 })).toMatchObject({ reason: 'timeout' })
    const drips: NodeJS.Timeout[] = []
    answerRaw = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n')
      drips.push(setInterval(() => socket.write('x'), 20))
    }
    expect(await read(undefined, { url: atRaw(), timeoutMs: 2_500 })).toMatchObject({ reason: 'timeout' })
    for (const drip of drips) clearInterval(drip)
  })

  it('stops when its reader goes away', async () => {
    const leave = new AbortController()
    answerRaw = () => leave.abort()
    const result = await reader.read(atRaw(), {
      wanted: 'page',
      timeoutMs: 60_000,
      maxAgeSeconds: 0,
      signal: leave.signal,
    })
    expect(result).toMatchObject({ ok: false, reason: 'timeout' })
  })
})

describe('an answer', () => {
  it.each([400, 401, 403, 404, 410, 429, 451, 500, 502, 503, 504, 206, 300])(
    'with status %i is no source',
    async (status) => {
      const result = await read(send(status, { 'content-type': 'text/html' }, '<p>upstream words</p>'))
      expect(result).toMatchObject({ ok: false, reason: 'http_status', httpStatus: status })
      expect(JSON.stringify(result)).not.toContain('upstream words')
    },
  )

  it.each([
    ['/moved', 'same host', (base: string) => `${base}/moved`],
    ['../x/./y?a=b#c', 'resolved and without its fragment', (base: string) => `${base}/x/y?a=b`],
    ['https://other.example.com/new', 'another host', () => 'https://other.example.com/new'],
  ])('that redirects to %s is not followed, and names it (%s)', async (location, _, expected) => {
    const before = world.upstream.requests.length
    const result = await read(send(302, { location }, 'moved'))
    expect(result).toEqual({
      ok: false,
      reason: 'redirected',
      detail: expect.stringMatching(/redirect_to/),
      httpStatus: 302,
      redirectTo: expected(world.url('').replace(/\/$/, '')),
    })
    expect(world.upstream.requests).toHaveLength(before + 1)
  })

  it.each([
    ['http://news.example.com/', 'redirect_insecure', 'http://news.example.com/', /Send https:\/\//],
    ['http://127.0.0.1/', 'redirect_insecure', 'http://127.0.0.1/', /Name another/],
    ['https://127.0.0.1/admin', 'target_blocked', 'https://127.0.0.1/admin', /IP addresses/],
    ['https://0x7f.1/', 'target_blocked', 'https://127.0.0.1/', /IP addresses/],
    ['https://[::1]/', 'target_blocked', 'https://[::1]/', /IP addresses/],
    ['https://metadata.internal/', 'target_blocked', 'https://metadata.internal/', /public internet/],
    ['https://news.example.com:8443/', 'target_blocked', 'https://news.example.com:8443/', /this port/],
    ['https://user:pass@news.example.com/', 'redirect_invalid', undefined, /can be named/],
    ['https://user@news.example.com/', 'redirect_invalid', undefined, /can be named/],
    ['file:///etc/passwd', 'redirect_invalid', undefined, /web address/],
    ['javascript:alert(1)', 'redirect_invalid', undefined, /web address/],
    ['https://', 'redirect_invalid', undefined, /web address/],
  ])('that redirects to %s leads nowhere: %s', async (location, reason, redirectTo, words) => {
    const result = await read(send(301, { location }))
    expect(result).toMatchObject({
      reason,
      httpStatus: 301,
      detail: expect.stringMatching(words),
    })
    expect('redirectTo' in result ? result.redirectTo : undefined).toBe(redirectTo)
    expect(JSON.stringify(result)).not.toContain('pass@')
  })

  it('that says it did not change, to who did not ask that, is no redirect', async () => {
    const result = await read(send(304, { location: '/elsewhere' }))
    expect(result).toMatchObject({ reason: 'http_status', httpStatus: 304 })
  })

  it.each([301, 308])('that redirects without saying where has a reason of its own: %i', async (status) => {
    const result = await read(send(status, {}))
    expect(result).toMatchObject({ reason: 'redirected', httpStatus: status })
    expect(result).not.toHaveProperty('redirectTo')
  })

  it.each([
    ['204', 204, ''],
    ['200 without content', 200, ''],
    ['a coding of nothing', 200, gzipSync('')],
  ])('of %s is empty', async (_, status, body) => {
    const headers: Record<string, string> = body === '' ? {} : { 'content-encoding': 'gzip' }
    expect(await read(send(status, headers, body))).toMatchObject({ reason: 'empty', httpStatus: status })
  })

  // Typed by hand: the compiler takes minutes to call a union of these overloads.
  it.each<[string, (text: string) => Buffer]>([
    ['gzip', (text) => gzipSync(text)],
    ['x-gzip', (text) => gzipSync(text)],
    ['br', (text) => brotliCompressSync(text)],
    ['deflate', (text) => deflateSync(text)],
    ['deflate', (text) => deflateRawSync(text)],
    ['identity', (text) => Buffer.from(text)],
  ])('in %s is decoded, and its digest is of what came out', async (coding, encode) => {
    const result = await read(send(200, { 'content-encoding': coding }, encode('Grüße')))
    expect(textOf(result)).toBe('Grüße')
    expect(result.ok && result.source.sha256).toBe(createHash('sha256').update('Grüße').digest('hex'))
  })

  it.each([
    ['gzip', Buffer.from('plain text'), 'encoding_malformed'],
    ['br', gzipSync('text'), 'encoding_malformed'],
    ['gzip', gzipSync('a text that is long enough to lose its end').subarray(0, 30), 'encoding_malformed'],
    ['zstd', Buffer.from('x'), 'encoding_unsupported'],
    ['gzip, gzip', gzipSync(gzipSync('x')), 'encoding_unsupported'],
    ['aes128gcm', Buffer.from('x'), 'encoding_unsupported'],
  ])('that says %s and is not is refused: %#', async (coding, body, reason) => {
    expect(await read(send(200, { 'content-encoding': coding }, body))).toMatchObject({
      reason,
      httpStatus: 200,
    })
  })

  it('in pieces of a byte each is the same as in one, whatever stands between them', async () => {
    const letters = Array.from({ length: 400_000 }, (_, i) => String.fromCharCode(97 + (i % 26))).join('')
    const drip = Array.from(letters, (letter) => `1\r\n${letter}\r\n`).join('')
    const large = 'L'.repeat(3000)
    answerRaw = (socket) => {
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
      socket.write(`${drip}bb8\r\n${large}\r\n2\r\nzz\r\nbb8\r\n${large}\r\n${drip}`)
      socket.end('0\r\n\r\n')
    }
    const answer = await read(undefined, { url: atRaw() })
    expect(
      answer.ok && answer.source.body.equals(Buffer.from(`${letters}${large}zz${large}${letters}`)),
    ).toBe(true)
  })

  it('of 2 MiB is whole, and one byte more is cut', async () => {
    const whole = await read(send(200, {}, Buffer.alloc(2 * MIB, 'a')))
    expect(whole.ok && [whole.source.body.length, whole.source.isCut]).toEqual([2 * MIB, false])
    const cut = await read(send(200, {}, Buffer.alloc(2 * MIB + 1, 'a')))
    expect(cut.ok && [cut.source.body.length, cut.source.isCut]).toEqual([2 * MIB, true])
    expect(cut.ok && cut.source.sha256).toBe(whole.ok && whole.source.sha256)
  })

  it('without an end is left at 2 MiB', async () => {
    const result = await read((res) => {
      const more = () => {
        while (!res.destroyed && res.write('x'.repeat(65_536)));
      }
      res.on('drain', more)
      more()
    })
    expect(result.ok && [result.source.body.length, result.source.isCut]).toEqual([2 * MIB, true])
  })

  it.each([
    ['gzip', (body: Buffer) => gzipSync(body, { level: 9 })],
    ['br', (body: Buffer) => brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 5 } })],
  ])('that is a bomb in %s costs 2 MiB', async (coding, encode) => {
    const bomb = encode(Buffer.alloc(200 * MIB))
    expect(bomb.length).toBeLessThan(MIB)
    const result = await read(send(200, { 'content-encoding': coding }, bomb))
    expect(result.ok && [result.source.body.length, result.source.isCut]).toEqual([2 * MIB, true])
  })

  it('longer than 2 MiB before it is decoded gives what can be decoded', async () => {
    const noise = randomBytes(3 * MIB)
    const result = await read(send(200, { 'content-encoding': 'gzip' }, gzipSync(noise)))
    expect(result.ok && result.source.isCut).toBe(true)
    const { body } = (result as { source: { body: Buffer } }).source
    expect(body.length).toBeGreaterThan(MIB)
    expect(body.equals(noise.subarray(0, body.length))).toBe(true)
  })

  it('keeps nothing invisible of its head', async () => {
    answerRaw = (socket) => {
      socket.end(
        Buffer.from(
          'HTTP/1.1 200 OK\r\nContent-Type: text/html; x="a\xadb\x9bc"\r\nETag: "\xff"\r\nContent-Length: 2\r\n\r\nok',
          'latin1',
        ),
      )
    }
    const result = await read(undefined, { url: atRaw() })
    expect(result).toMatchObject({ ok: true, source: { contentType: 'text/html; x="abc"', etag: '"ÿ"' } })
  })

  it('is asked for with its validators the next time, and confirmed by 304', async () => {
    world.upstream.respond((request, res) => {
      const isKnown = request.headers.some(([name, value]) => name === 'if-none-match' && value === '"v1"')
      if (isKnown) res.writeHead(304, { etag: '"v1"' }).end()
      else res.writeHead(200, { etag: '"v1"' }).end('version one')
    })
    const [first, second] = [await read(undefined), await read(undefined)]
    expect([first, second].map((result) => result.ok && result.source.cache)).toEqual(['miss', 'revalidated'])
    expect([first, second].map(textOf)).toEqual(['version one', 'version one'])
    expect(second.ok && second.source.status).toBe(200)
  })
})

describe('what bytes turn out to be', () => {
  const HTML =
    '<html><body><main><h1>Title</h1><p>One sentence that says something about tea leaves.</p></main>'
  const analyse = async (kind: 'page' | 'feed', respond: Respond) => {
    const result = await read(respond, { wanted: kind })
    if (!result.ok) return result
    const { body, isCut, contentType, contentLanguage, url } = result.source
    return analyses[kind]({ body, isCut, contentType, contentLanguage, url })
  }

  it.each<[string, 'page' | 'feed', Respond, string]>([
    [
      'an image',
      'page',
      send(200, { 'content-type': 'image/png' }, Buffer.from([137, 80, 78, 71, 13, 10, 26, 10, 0, 0])),
      'type_unsupported|binary',
    ],
    [
      'a PDF called HTML',
      'page',
      send(200, { 'content-type': 'text/html' }, Buffer.from('%PDF-1.7\n\0\x01\x02\xff\xfe', 'latin1')),
      'type_unsupported|binary',
    ],
    [
      'random bytes without a type',
      'page',
      send(200, {}, Buffer.from([0, 1, 2, 3, 255, 254, 0, 9, 8, 0])),
      'binary',
    ],
    ['JSON that is none', 'page', send(200, { 'content-type': 'application/json' }, '{"a":'), 'invalid_json'],
    ['white space', 'page', send(200, { 'content-type': 'text/html' }, ' \n\t '), 'empty|no_content'],
    [
      'a page without text',
      'page',
      send(200, { 'content-type': 'text/html' }, '<script>1</script>'),
      'no_content',
    ],
    ['a feed that is a page', 'feed', send(200, { 'content-type': 'text/html' }, HTML), 'feed_is_html'],
    [
      'a feed that is JSON of another kind',
      'feed',
      send(200, { 'content-type': 'application/json' }, '{"a":1}'),
      'not_a_feed',
    ],
    ['a feed of nothing', 'feed', send(200, { 'content-type': 'application/rss+xml' }, '  '), 'empty'],
  ])('has a reason: %s', async (_, kind, respond, reasons) => {
    const result = await analyse(kind, respond)
    expect(result.ok).toBe(false)
    expect(!result.ok && reasons.split('|')).toContain(!result.ok && result.reason)
    expect(!result.ok && result.detail.length).toBeGreaterThan(20)
  })

  it.each<[string, Respond]>([
    ['text/plain', send(200, { 'content-type': 'text/plain' }, HTML)],
    ['nothing', send(200, {}, HTML)],
    ['application/octet-stream', send(200, { 'content-type': 'application/octet-stream' }, HTML)],
  ])('is read as what it is where it is called %s', async (_, respond) => {
    const result = await analyse('page', respond)
    expect(result).toMatchObject({ ok: true })
  })

  const SENTENCE = 'Un café très agréable à Paris, où l’on boit du thé.'
  it.each<[string, string, Buffer, string]>([
    ['the header', 'text/html; charset=utf-8', Buffer.from(`<p>${SENTENCE}`), 'header'],
    ['its content, where nothing is said', 'text/html', Buffer.from(`<p>${SENTENCE}`), 'content'],
    [
      'its mark, against the header',
      'text/html; charset=windows-1252',
      Buffer.from(`\ufeff<p>${SENTENCE}`),
      'bom',
    ],
    [
      'its meta',
      'text/html',
      Buffer.from(`<meta charset=windows-1252><p>${SENTENCE.replace('’', '\x92')}`, 'latin1'),
      'meta',
    ],
    [
      'its bytes, where the label is unknown',
      'text/html; charset=klingon',
      Buffer.from(`<p>${SENTENCE}`),
      'content',
    ],
  ])('is decoded by %s', async (_, type, body, from) => {
    const result = await analyse('page', send(200, { 'content-type': type }, body))
    expect(result).toMatchObject({ ok: true, charset: { from, replaced: 0 } })
    expect(result.ok && 'document' in result.value && result.value.document.text).toContain(SENTENCE)
  })
})
