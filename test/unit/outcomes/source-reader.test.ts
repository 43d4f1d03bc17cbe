// What is asked of a source, what is kept of its answers, and who gets which. The wire itself is in the flow tests.
import { createHash } from 'node:crypto'
import { beforeEach, describe, expect, it } from 'vitest'
import type { OutboundRequest, SendResult } from '../../../src/egress/ports.ts'
import type { SourceReader } from '../../../src/outcomes/ports.ts'
import { createReader, type ReaderParts } from '../../../src/outcomes/sources/reader.ts'

const START = 1_790_000_000_000
const URL_A = 'https://news.example.com/a'
type Reply = { status?: number; headers?: Record<string, string>; body?: string }

let at: number
let sent: { url: string; headers: Record<string, string>; request: OutboundRequest }[]
let inspected: string[]
let inspect: ReaderParts['targets']['inspect']
let reply: (count: number) => Reply | SendResult | Promise<Reply | SendResult>
let reader: SourceReader

beforeEach(() => {
  at = START
  sent = []
  inspected = []
  inspect = async () => ({ ok: true, addresses: ['192.0.2.1'], addressClass: 'public' })
  reply = () => ({ body: 'hello' })
  reader = createReader({
    now: () => at,
    rules: { ports: [443], allowSandboxName: false },
    targets: {
      inspect(target, timeoutMs) {
        inspected.push(target.host)
        return inspect(target, timeoutMs)
      },
    },
    sender: {
      async send(request) {
        const headers = request.headers.use((pairs) => Object.fromEntries(pairs))
        sent.push({ url: request.url.href, headers, request })
        const given = await reply(sent.length)
        if ('ok' in given) return given
        return {
          ok: true,
          response: {
            status: given.status ?? 200,
            statusText: '',
            headers: Object.entries(given.headers ?? {}).map(([name, value]) => ({ name, value })),
            body: Buffer.from(given.body ?? ''),
          },
        }
      },
    },
  })
})

const read = (
  maxAgeSeconds = 0,
  over: Partial<Parameters<SourceReader['read']>[1]> & { url?: string } = {},
) => {
  const { url = URL_A, ...options } = over
  return reader.read(url, {
    wanted: 'page',
    maxAgeSeconds,
    timeoutMs: 6000,
    signal: new AbortController().signal,
    ...options,
  })
}
/** The interesting part of what a read gave. */
const shown = async (result: ReturnType<typeof read>) => {
  const given = await result
  if (!given.ok) return given.reason
  const { cache, ageSeconds, body } = given.source
  return `${cache} ${ageSeconds} ${body}`
}

describe('a request for a source', () => {
  it('goes to the vetted address with nothing that identifies the caller', async () => {
    await read(30)
    expect(sent[0]!.url).toBe(URL_A)
    expect(sent[0]!.request).toMatchObject({
      method: 'GET',
      addresses: ['192.0.2.1'],
      body: undefined,
      partition: 'outcomes',
      maxResponseBytes: 2 * 1024 * 1024,
      overflow: 'cut',
      acceptsEncoded: true,
    })
    expect(sent[0]!.headers).toEqual({
      accept: expect.stringMatching(/^text\/html/),
      'accept-encoding': 'gzip, deflate, br',
      'user-agent': 'AgentGateway/5',
      'cache-control': 'max-age=30',
    })
  })

  it('is asked for no more of what it says about robots than is read of it', async () => {
    await read(0, { wanted: 'robots' })
    expect(sent[0]?.request.maxResponseBytes).toBe(500 * 1024)
  })

  it('asks for a feed where a feed is wanted', async () => {
    await read(0, { wanted: 'feed' })
    expect(sent[0]!.headers['accept']).toMatch(/^application\/atom\+xml,application\/rss\+xml/)
  })

  it('has what the name resolution left of its time', async () => {
    inspect = async () => {
      at += 2500
      return { ok: true, addresses: ['192.0.2.1'], addressClass: 'public' }
    }
    await read()
    expect(sent[0]!.request.timeoutMs).toBe(3500)
  })

  it.each(['http://news.example.com/', 'https://127.0.0.1/', 'nonsense'])(
    'is never sent for %s',
    async (url) => {
      expect(await read(0, { url })).toMatchObject({ ok: false })
      expect([inspected, sent]).toEqual([[], []])
    },
  )

  it('answers with bytes, what their head says, and their digest', async () => {
    reply = () => ({
      headers: {
        'content-type': 'text/plain;  charset=utf-8\u0085',
        'content-language': 'ar',
        etag: 'W/"7"',
        'last-modified': 'Wed, 23 Sep 2026 10:00:00 GMT',
        age: '12',
      },
      body: 'مرحبا',
    })
    expect(await read()).toEqual({
      ok: true,
      source: {
        url: URL_A,
        status: 200,
        contentType: 'text/plain; charset=utf-8',
        contentLanguage: 'ar',
        etag: 'W/"7"',
        lastModified: 'Wed, 23 Sep 2026 10:00:00 GMT',
        body: Buffer.from('مرحبا'),
        isCut: false,
        sha256: createHash('sha256').update('مرحبا').digest('hex'),
        retrievedAt: START,
        ageSeconds: 12,
        cache: 'miss',
      },
    })
  })

  it('never throws: what fails in the gateway is a reason too', async () => {
    inspect = () => Promise.reject(new Error('secret of a driver'))
    const failed = await read()
    expect(failed).toMatchObject({ ok: false, reason: 'unreadable' })
    expect(JSON.stringify(failed)).not.toContain('secret')
  })
})

describe('an answer of some age', () => {
  it('is served while it is young enough, with the time it was read', async () => {
    expect(await shown(read(60))).toBe('miss 0 hello')
    at += 30_000
    expect(await shown(read(30))).toBe('hit 30 hello')
    const hit = await read(60)
    expect(hit).toMatchObject({ source: { retrievedAt: START, ageSeconds: 30 } })
    expect(sent).toHaveLength(1)
    expect(await shown(read(29))).toBe('miss 0 hello')
    expect(sent).toHaveLength(2)
  })

  it('is not served to who wants it from the source, but what that brings is', async () => {
    await read(60)
    reply = () => ({ body: 'new' })
    expect(await shown(read(0))).toBe('miss 0 new')
    expect(await shown(read(60))).toBe('hit 0 new')
    expect(sent).toHaveLength(2)
  })

  it('is not served for another address, or as something else', async () => {
    await read(60)
    await read(60, { url: `${URL_A}?x=1` })
    await read(60, { wanted: 'feed' })
    expect(sent).toHaveLength(3)
  })

  it('is not served where the operator has closed the way since', async () => {
    await read(60)
    inspect = async () => ({ ok: false, code: 'egress_paused', reason: 'paused', detail: 'Paused.' })
    expect(await shown(read(60))).toBe('egress_paused')
  })

  it.each<Record<string, string>>([
    { 'set-cookie': 'a=1' },
    { 'cache-control': 'private' },
    { 'cache-control': 'no-store' },
    { vary: '*' },
    { age: '61' },
  ])('is not kept with %j', async (headers) => {
    reply = (count) => ({ headers, body: `answer ${count}` })
    await read(60)
    expect(await shown(read(60))).toMatch(/ answer 2$/)
  })

  it('counts the age it had when it came', async () => {
    reply = () => ({ headers: { age: '20' }, body: 'x' })
    await read(60)
    at += 10_000
    expect(await shown(read(30))).toBe('hit 30 x')
    expect(await shown(read(29))).toBe('miss 20 x')
  })

  it.each([404, 500, 301])('is forgotten when the source answers %i', async (status) => {
    await read(60)
    reply = () => ({ status })
    await read(0)
    reply = () => ({ body: 'back' })
    expect(await shown(read(60))).toBe('miss 0 back')
  })

  it('is the same bytes for everybody, and not a copy for each', async () => {
    const [first, second] = [await read(60), await read(60)]
    if (!first.ok || !second.ok) return expect.fail('was not read')
    expect(second.source.cache).toBe('hit')
    expect(second.source.body).toBe(first.source.body)
  })
})

describe('a kept answer with a validator', () => {
  const tagged = { etag: '"v1"', 'last-modified': 'Wed, 23 Sep 2026 10:00:00 GMT' }

  it('lets the source say that it did not change: a new time, the same bytes', async () => {
    reply = () => ({ headers: { ...tagged, 'content-type': 'text/html' }, body: 'page' })
    await read()
    at += 100_000
    reply = () => ({ status: 304, headers: { etag: '"v1"', age: '3' } })
    const again = await read()
    expect(sent[1]!.headers).toMatchObject({
      'if-none-match': '"v1"',
      'if-modified-since': 'Wed, 23 Sep 2026 10:00:00 GMT',
      'cache-control': 'max-age=0',
    })
    expect(again).toMatchObject({
      ok: true,
      source: {
        status: 200,
        contentType: 'text/html',
        body: Buffer.from('page'),
        cache: 'revalidated',
        retrievedAt: START + 100_000,
        ageSeconds: 3,
      },
    })
    at += 10_000
    expect(await shown(read(13))).toBe('hit 13 page')
  })

  it('is replaced when the source sends another', async () => {
    reply = () => ({ headers: tagged, body: 'old' })
    await read()
    reply = () => ({ headers: { etag: '"v2"' }, body: 'new' })
    expect(await shown(read())).toBe('miss 0 new')
    await read()
    expect(sent[2]!.headers).toMatchObject({ 'if-none-match': '"v2"' })
    expect(sent[2]!.headers).not.toHaveProperty('if-modified-since')
  })

  it('is asked for again, whole, when the source speaks of another version', async () => {
    reply = () => ({ headers: tagged, body: 'old' })
    await read()
    reply = (count) => (count === 2 ? { status: 304, headers: { etag: '"v9"' } } : { body: 'whole' })
    expect(await shown(read())).toBe('miss 0 whole')
    expect(sent[2]!.headers).not.toHaveProperty('if-none-match')
  })

  it('stays kept when the source cannot be reached', async () => {
    reply = () => ({ headers: tagged, body: 'page' })
    await read(60)
    reply = () => ({ ok: false, phase: 'before_send', reason: 'connect_failed' })
    expect(await shown(read(0))).toBe('connect_failed')
    expect(await shown(read(60))).toBe('hit 0 page')
  })

  it('is forgotten when its confirmation says that it may not be kept', async () => {
    reply = () => ({ headers: tagged, body: 'page' })
    await read()
    reply = () => ({ status: 304, headers: { 'cache-control': 'no-store' } })
    expect(await shown(read())).toBe('revalidated 0 page')
    reply = () => ({ body: 'fresh' })
    await read()
    expect(sent[2]!.headers).not.toHaveProperty('if-none-match')
  })

  it.each(['"a"\r\nx: y', 'v1', '"caf\u00e9"', '*'])(
    'is not used where it is no entity tag: %j',
    async (etag) => {
      reply = () => ({ headers: { etag }, body: 'page' })
      await read()
      await read()
      expect(sent[1]!.headers).not.toHaveProperty('if-none-match')
    },
  )

  it('is the only thing that 304 can be an answer to', async () => {
    reply = () => ({ status: 304 })
    expect(await read()).toMatchObject({ ok: false, reason: 'http_status', httpStatus: 304 })
  })
})

describe('equal reads at the same moment', () => {
  it('are one for those who take an answer of some age', async () => {
    const gate = Promise.withResolvers<Reply>()
    reply = () => gate.promise
    const reads = [read(5), read(60), read(5)].map(shown)
    gate.resolve({ body: 'one' })
    expect(await Promise.all(reads)).toEqual(['miss 0 one', 'hit 0 one', 'hit 0 one'])
    expect(sent).toHaveLength(1)
  })

  it('share a failure', async () => {
    reply = () => ({ status: 500 })
    expect(await Promise.all([read(5), read(5)].map(shown))).toEqual(['http_status', 'http_status'])
    expect(sent).toHaveLength(1)
  })

  it('are several for those who want it from the source', async () => {
    const gate = Promise.withResolvers<Reply>()
    reply = () => gate.promise
    const reads = [read(0), read(0)].map(shown)
    // Neither waits for the other.
    await expect.poll(() => sent.length).toBe(2)
    gate.resolve({ status: 500 })
    expect(await Promise.all(reads)).toEqual(['http_status', 'http_status'])
  })

  it('are one only until it is answered', async () => {
    reply = () => ({ status: 500 })
    await read(5)
    await read(5)
    expect(sent).toHaveLength(2)
  })

  it('are several where the answer is only for who asked', async () => {
    reply = (count) => ({ headers: { 'set-cookie': 'a=1' }, body: `for ${count}` })
    expect(await Promise.all([read(5), read(5)].map(shown))).toEqual(['miss 0 for 1', 'miss 0 for 2'])
  })

  it('do not take the deadline of one that started earlier, or ends later', async () => {
    const gate = Promise.withResolvers<Reply>()
    reply = (count) => (count === 1 ? gate.promise : { body: `${count}` })
    const first = read(5)
    await expect.poll(() => sent.length).toBe(1)
    at += 251
    expect(await shown(read(5))).toBe('miss 0 2')
    gate.resolve({ body: '1' })
    await first
    const slow = Promise.withResolvers<Reply>()
    reply = (count) => (count === 3 ? slow.promise : { body: `${count}` })
    at += 60_001
    const longer = read(5, { timeoutMs: 6001 })
    await expect.poll(() => sent.length).toBe(3)
    expect(await shown(read(5))).toBe('miss 0 4')
    slow.resolve({})
    await longer
  })

  it('do not end with the one that goes away', async () => {
    const leave = new AbortController()
    const gate = Promise.withResolvers<SendResult>()
    reply = (count) => (count === 1 ? gate.promise : { body: 'mine' })
    const first = read(5, { signal: leave.signal })
    const second = read(5)
    await expect.poll(() => sent.length).toBe(1)
    leave.abort()
    gate.resolve({ ok: false, phase: 'after_send', reason: 'timeout' })
    expect(await shown(first)).toBe('timeout')
    expect(await shown(second)).toBe('miss 0 mine')
  })
})
