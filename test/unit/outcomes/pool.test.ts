// The threads behind the analyses, with a worker whose analyses misbehave, and once with the real one.
import { afterEach, describe, expect, it } from 'vitest'
import { GatewayError } from '../../../src/errors.ts'
import { createAnalyserPool, type PoolOptions } from '../../../src/outcomes/adapters/pool.ts'
import { analyses } from '../../../src/outcomes/analyses.ts'
import type { Analyser, AnalysisResult } from '../../../src/outcomes/ports.ts'

const hostileUrl = new URL('../../support/hostile-worker.ts', import.meta.url)
const FOREVER_MS = 1_000_000
const open: Analyser[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()))
})

function openPool(options: PoolOptions = {}) {
  const pool = createAnalyserPool({ workerUrl: hostileUrl, workers: 1, budgetMs: FOREVER_MS, ...options })
  open.push(pool)
  return {
    pool,
    run: (name: string, input: unknown = null) =>
      pool.run(name as 'page', input as never) as Promise<AnalysisResult<unknown>>,
  }
}

const rejection = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.fail('was answered'),
    (thrown: unknown) => thrown as GatewayError,
  )

const page = (html: string) => ({
  body: Buffer.from(html),
  isCut: false,
  contentType: 'text/html; charset=utf-8',
  contentLanguage: null,
  url: 'https://a.example/',
})

describe('an analysis in a thread', () => {
  it('gives what the function itself gives', async () => {
    const pool = createAnalyserPool()
    open.push(pool)
    const input = page('<title>Tea</title><main><p>Green tea is steeped for three minutes.</p></main>')
    expect(await pool.run('page', input)).toEqual({ ok: true, value: analyses.page(input) })
  })

  it('gets a copy of the bytes and nothing from around them', async () => {
    const { run } = openPool()
    const slab = Buffer.from('secret before | the page | secret after')
    const body = slab.subarray(16, 24)
    expect(await run('buffer', { body })).toEqual({ ok: true, value: 8 })
    const echoed = (await run('echo', { body, url: 'u' })) as { value: { body: Uint8Array; url: string } }
    expect(Buffer.from(echoed.value.body).toString()).toBe('the page')
    expect(echoed.value.url).toBe('u')
    expect(slab.toString(), 'what a cache holds is still there').toBe(
      'secret before | the page | secret after',
    )
  })

  it('sees nothing of the environment', async () => {
    const { run } = openPool()
    expect(process.env).toHaveProperty('PATH')
    expect(await run('environment')).toEqual({ ok: true, value: [] })
  })

  it('uses a thread again', async () => {
    const { run } = openPool()
    expect(await run('thread')).toEqual(await run('thread'))
  })
})

describe('an analysis that misbehaves', () => {
  it.each(['spin', 'backtrack'])('is cut off when its budget is used up: %s', async (name) => {
    const { run } = openPool({ budgetMs: 50 })
    expect(await run(name)).toEqual({ ok: false, reason: 'budget_exceeded' })
    // On a machine that is slow enough even an echo may take 50 ms: what matters is that a thread takes it.
    await expect.poll(() => run('echo', 'next')).toEqual({ ok: true, value: 'next' })
  })

  it.each(['fail', 'overflow', 'exhaust', 'unsendable', 'exit'])(
    'is an unreadable input, and the next one is read: %s',
    async (name) => {
      const { run } = openPool()
      expect(await run(name)).toEqual({ ok: false, reason: 'unreadable' })
      expect(await run('echo', 'next')).toEqual({ ok: true, value: 'next' })
    },
  )

  it('cannot take the next one with it by failing after its answer', async () => {
    const { run } = openPool()
    expect(await run('later')).toEqual({ ok: true, value: 'answered' })
    await expect.poll(() => run('echo', 'next')).toEqual({ ok: true, value: 'next' })
  })

  it('does not keep others waiting while it runs', async () => {
    const { pool, run } = openPool({ workers: 2 })
    const endless = rejection(run('spin'))
    const others = await Promise.all(Array.from({ length: 20 }, (_, i) => run('echo', i)))
    expect(others).toEqual(Array.from({ length: 20 }, (_, i) => ({ ok: true, value: i })))
    await pool.close()
    expect(await endless).toMatchObject({ code: 'draining' })
  })

  it('is replaced while others wait for its thread', async () => {
    const { run } = openPool({ budgetMs: 1000 })
    const [cut, next] = await Promise.all([run('spin'), run('echo', 'next')])
    expect(cut).toEqual({ ok: false, reason: 'budget_exceeded' })
    expect(next).toEqual({ ok: true, value: 'next' })
  })
})

describe('the queue', () => {
  it('refuses with a time to retry when it is full, and nothing that fits', async () => {
    const { pool, run } = openPool({ maxWaiting: 2 })
    const taken = [run('spin'), run('echo'), run('echo')].map(rejection)
    const refused = await rejection(run('echo'))
    expect(refused).toBeInstanceOf(GatewayError)
    expect(refused).toMatchObject({ code: 'overloaded', extras: { retry_after_seconds: 1 } })
    await pool.close()
    expect((await Promise.all(taken)).map(({ code }) => code)).toEqual(['draining', 'draining', 'draining'])
  })

  it('keeps nobody longer than it may', async () => {
    const { run } = openPool({ maxWaitMs: 20 })
    const endless = rejection(run('spin'))
    expect(await rejection(run('echo'))).toMatchObject({ code: 'overloaded' })
    await open.pop()!.close()
    expect(await endless).toMatchObject({ code: 'draining' })
  })

  it('is served in the order of arrival', async () => {
    const { run } = openPool()
    const order: number[] = []
    await Promise.all([1, 2, 3, 4].map((n) => run('echo').then(() => order.push(n))))
    expect(order).toEqual([1, 2, 3, 4])
  })
})

describe('the life of a pool', () => {
  it('starts no thread before the first analysis, and says when one does not start', async () => {
    const { run } = openPool({ workerUrl: new URL('./no-such-worker.ts', import.meta.url) })
    const thrown = await rejection(run('echo'))
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown, 'the gateway is broken, not the page').not.toBeInstanceOf(GatewayError)
  })

  it('never has more threads than it may', async () => {
    const { run } = openPool({ workers: 2 })
    const seen = await Promise.all(Array.from({ length: 30 }, () => run('thread')))
    const ids = new Set(seen.map((answer) => (answer as { value: number }).value))
    expect(ids.size).toBeLessThanOrEqual(2)
  })

  it('ends threads that have nothing to do', async () => {
    const { run } = openPool({ idleMs: 1 })
    const first = await run('thread')
    await expect.poll(() => run('thread')).not.toEqual(first)
  })

  it('takes nothing after it was closed, and closes once', async () => {
    const { pool, run } = openPool()
    await run('echo')
    await Promise.all([pool.close(), pool.close()])
    expect(await rejection(run('echo'))).toMatchObject({ code: 'draining' })
  })
})
