import { text } from 'node:stream/consumers'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import {
  type OpenSearchThreads,
  openSearchThreads,
  type SearchThreadsOptions,
} from '../../src/egress/adapters/search/threads.ts'
import { createLeakGates } from '../../src/egress/leak/inspection.ts'
import { createLogger } from '../../src/lib/log.ts'
import { Secret } from '../../src/lib/secret.ts'

const SECRET = 'sk_live_0123456789abcdefghijklmn'
const sought = { secrets: [new Secret('another-secret'), new Secret(SECRET)], scheme: 'Bearer' }
const withBody = (body: Buffer | string) => ({ statusText: 'OK', headers: [], body: Buffer.from(body) })
const hostileUrl = new URL('../support/hostile-search-worker.ts', import.meta.url)
const share = (bytes: Buffer) => {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
  shared.set(bytes)
  return shared
}
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

const opened: OpenSearchThreads[] = []
let lines: string[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((threads) => threads.close()))
  lines = []
})

function open(options: Partial<SearchThreadsOptions> = {}) {
  const log = createLogger('info', { write: (line: string) => void lines.push(line) })
  const threads = openSearchThreads({ log, ...options })
  opened.push(threads)
  const search = (body: Buffer | string, accountId = 'acct_1') =>
    threads.search(accountId, sought, withBody(body))
  return { threads, ...threads, search }
}

describe('a search in a thread', () => {
  it('finds what a search here finds, in the same place, and leaves the body to its owner', async () => {
    const { threads } = open()
    const gate = createLeakGates(threads)(sought.secrets, { accountId: 'acct_1', scheme: 'Bearer' })
    const filler = Buffer.alloc(3 << 20, '{"id":1},')
    const hidden = Buffer.concat([filler, Buffer.from(Buffer.from(SECRET).toString('base64')), filler])
    const copy = Buffer.from(hidden)
    expect(await gate.inspect(withBody(filler))).toEqual({ ok: true })
    expect(await gate.inspect({ statusText: 'OK', headers: [], body: hidden })).toEqual({
      ok: false,
      reason: 'reflected',
      where: 'body',
      encoding: 'base64',
    })
    expect(hidden.equals(copy)).toBe(true)
    const trailer = { name: 'x-echo', value: 'another-secret', trailer: true }
    expect(await gate.inspect({ ...withBody(filler), headers: [trailer] })).toMatchObject({
      where: 'trailers',
    })
  })

  it('has heap enough for a long answer of nothing but escapes', async () => {
    // It is about memory: how long it takes on a machine that is busy is not asked.
    const { search } = open({ maxMs: 300_000 })
    const head = Buffer.from('--a\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n')
    expect(await search(Buffer.concat([head, Buffer.alloc(8 << 20, '=41=42')]))).toEqual({ ok: true })
  })

  it('overwrites the secret in its memory, and leaves nothing of it in the heap of its thread', async () => {
    const worker = new Worker(new URL('../../src/egress/adapters/search/worker.ts', import.meta.url))
    try {
      await once(worker, 'message')
      // Shared, so that what becomes of it is seen from here.
      const secret = share(Buffer.from(SECRET, 'utf16le'))
      const body = share(Buffer.from(`hello ${SECRET}`))
      worker.postMessage({ secrets: [secret], scheme: 'Bearer', statusText: 'OK', headers: [], body }, [])
      expect(await once(worker, 'message')).toMatchObject([{ reason: 'reflected' }])
      expect([...secret, ...body].every((byte) => byte === 0)).toBe(true)
      const heap = await text(await worker.getHeapSnapshot())
      expect(heap).toContain('statusText')
      expect(heap).not.toContain(SECRET)
      expect(heap).not.toContain(SECRET.split('').toReversed().join(''))
      expect(heap).not.toContain(Buffer.from(SECRET).toString('base64').slice(0, 24))
    } finally {
      await worker.terminate()
    }
  })

  it.runIf(process.platform === 'linux')('goes behind the event loop where both want a core', async () => {
    const { search } = open()
    await search('a body')
    const nicenessOf = (task: string) =>
      Number(readFileSync(`/proc/self/task/${task}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[16])
    const ranks = readdirSync('/proc/self/task').map(nicenessOf)
    expect(nicenessOf(String(process.pid))).toBe(0)
    expect(ranks.filter((rank) => rank === 10)).toHaveLength(1)
  })
})

describe('the threads for searches', () => {
  it.each([
    ['hangs', 'spin', 'hung'],
    ['ends', 'exit', 'crashed'],
    ['fails', 'throw', 'crashed'],
    ['runs out of memory', 'exhaust', 'out_of_memory'],
  ])('refuse what a thread was searching that %s, and go on with another', async (_, word, reason) => {
    const { search } = open({ workerUrl: hostileUrl, maxMs: word === 'spin' ? 5_000 : 20_000, threads: 1 })
    const [refused, next] = await Promise.all([search(word), search('answer 2')])
    expect(refused).toEqual({ ok: false, reason: 'failed' })
    expect(next).toMatchObject({ ok: true })
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event: 'search_thread_ended', reason }])
  })

  it('refuse everything while no thread can be started, and log it', async () => {
    const { search } = open({ workerUrl: new URL('./no-such-worker.ts', import.meta.url) })
    expect(await Promise.all([search('a'), search('b')])).toEqual([
      { ok: false, reason: 'failed' },
      { ok: false, reason: 'failed' },
    ])
    expect(lines.join('')).toContain('"event":"search_thread_ended"')
  })

  it('let accounts take turns: one search of another account does not wait for twenty of one', async () => {
    const { search } = open({ workerUrl: hostileUrl, threads: 1 })
    const order: string[] = []
    const run = async (accountId: string) => {
      await search('wait', accountId)
      order.push(accountId)
    }
    await Promise.all([...Array.from({ length: 6 }, () => run('acct_1')), run('acct_2')])
    expect(order.indexOf('acct_2')).toBeLessThanOrEqual(2)
  })

  it('keep a thread for others, whatever one account sends', async () => {
    const { search, load } = open({ workerUrl: hostileUrl, threads: 2 })
    const hung = search('spin', 'acct_1')
    const behind = search('spin', 'acct_1')
    expect(load()).toMatchObject({ busy: 1, waiting: 1 })
    expect(await search('answer', 'acct_2')).toMatchObject({ ok: true })
    expect(load()).toMatchObject({ busy: 1, waiting: 1 })
    await opened.splice(0).at(0)?.close()
    expect(await Promise.all([hung, behind])).toEqual([
      { ok: false, reason: 'failed' },
      { ok: false, reason: 'failed' },
    ])
  })

  it('refuse what an account has beyond its bytes, and what waits too long', async () => {
    const { search } = open({
      workerUrl: hostileUrl,
      threads: 1,
      maxMs: 5_000,
      maxWaitMs: 100,
      maxBytesOfAccount: 10,
      maxBytes: 16,
    })
    const first = search('spin 6789')
    expect(await search('ab')).toEqual({ ok: false, reason: 'busy' })
    const waiting = search('4444', 'acct_2')
    expect(await search('4444', 'acct_3')).toEqual({ ok: false, reason: 'busy' })
    expect(await waiting).toEqual({ ok: false, reason: 'busy' })
    expect(await first).toEqual({ ok: false, reason: 'failed' })
    // What was refused or is done counts no more.
    expect(await search('answer 3')).toMatchObject({ ok: true })
  })

  it('end when nobody needs them, and start again', async () => {
    const { search, load } = open({ workerUrl: hostileUrl, idleMs: 30 })
    await search('answer')
    expect(load().threads).toBe(1)
    while (load().threads > 0) await sleep(10)
    expect(lines).toEqual([])
    expect(await search('answer')).toMatchObject({ ok: true })
  })

  it('search nothing any more once they are closed', async () => {
    const { search, close } = open({ workerUrl: hostileUrl })
    await close()
    expect(await search('answer')).toEqual({ ok: false, reason: 'failed' })
  })
})
