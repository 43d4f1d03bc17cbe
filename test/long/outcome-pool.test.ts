// The processes behind the analyses, with a worker whose analyses misbehave, and once with the real one.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { afterEach, describe, expect, it } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import { createAnalyserPool, type PoolOptions } from '../../src/outcomes/adapters/pool.ts'
import { analyses } from '../../src/outcomes/analyses.ts'
import type { Analyser, AnalysisResult } from '../../src/outcomes/ports.ts'

const hostileUrl = new URL('../support/hostile-worker.ts', import.meta.url)
const FOREVER_MS = 1_000_000
const open: Analyser[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()))
})

function openPool(options: PoolOptions = {}) {
  const pool = createAnalyserPool({
    workerUrl: hostileUrl,
    workers: 1,
    budgetMs: FOREVER_MS,
    maxWaitMs: FOREVER_MS,
    startMs: 60_000,
    ...options,
  })
  open.push(pool)
  return {
    pool,
    run: (name: string, input: unknown = null) =>
      pool.run(name as 'page', input as never) as Promise<AnalysisResult<unknown>>,
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
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

describe('an analysis in another process', () => {
  it('gives what the function itself gives', async () => {
    const pool = createAnalyserPool({ budgetMs: FOREVER_MS })
    open.push(pool)
    const input = page('<title>Tea</title><main><p>Green tea is steeped for three minutes.</p></main>')
    expect(await pool.run('page', input)).toEqual({ ok: true, value: analyses.page(input) })
  })

  it('gets a copy of the bytes and nothing from around them', async () => {
    const { run } = openPool()
    const slab = Buffer.from('secret before | the page | secret after')
    const body = slab.subarray(16, 24)
    const around = (await run('around', { body })) as { value: string }
    expect(around.value).toContain('the page')
    expect(around.value).not.toContain('secret')
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

  it('uses a process again', async () => {
    const { run } = openPool()
    expect(await run('process')).toEqual(await run('process'))
  })

  it('is answered once by a process in which something may still go on', async () => {
    const { run } = openPool()
    const [first, second] = [await run('pledge'), await run('pledge')]
    expect([first.ok, second.ok]).toEqual([true, true])
    expect(first).not.toEqual(second)
    expect(await run('stray')).toEqual({ ok: true, value: 'answered' })
    await expect.poll(() => isRunning((first as { value: number }).value)).toBe(false)
    expect(await run('echo', 'next')).toEqual({ ok: true, value: 'next' })
  })
})

describe('an analysis that misbehaves', () => {
  it.each(['spin', 'backtrack'])('is cut off when its budget is used up: %s', async (name) => {
    const { run } = openPool({ budgetMs: 50 })
    expect(await run(name)).toEqual({ ok: false, reason: 'budget_exceeded' })
    // On a machine that is slow enough even an echo may take 50 ms: what matters is that a process takes it.
    await expect.poll(() => run('echo', 'next')).toEqual({ ok: true, value: 'next' })
  })

  it.each([
    'fail',
    'overflow',
    'exhaust',
    'hoard',
    'bury',
    'refuse',
    'compile',
    'unsendable',
    'exit',
    'crash',
  ])('is an unreadable input, and the next one is read: %s', async (name) => {
    const { run } = openPool()
    expect(await run(name)).toEqual({ ok: false, reason: 'unreadable' })
    expect(await run('echo', 'next')).toEqual({ ok: true, value: 'next' })
  })

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

  it('is replaced while others wait for its process', async () => {
    // An echo has it as well, in a process that has just started.
    const { run } = openPool({ budgetMs: 5_000 })
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

describe('what a pool says of itself', () => {
  it('counts processes, those at work and what waits', async () => {
    const { pool, run } = openPool({ workers: 2, idleMs: 1 })
    expect(pool.load()).toEqual({ processes: 0, busy: 0, waiting: 0 })
    const work = ['process', 'process', 'process', 'process'].map((name) => run(name))
    expect(pool.load()).toEqual({ processes: 2, busy: 2, waiting: 2 })
    await Promise.all(work)
    expect(pool.load()).toMatchObject({ busy: 0, waiting: 0 })
    await expect.poll(() => pool.load().processes).toBe(0)
  })
})

describe('the life of a pool', () => {
  it('starts no process before the first analysis, and says when one does not start', async () => {
    const { run } = openPool({ workerUrl: new URL('./no-such-worker.ts', import.meta.url) })
    const thrown = await rejection(run('echo'))
    expect(thrown).toBeInstanceOf(Error)
    expect(thrown, 'the gateway is broken, not the page').not.toBeInstanceOf(GatewayError)
  })

  it('leaves no process behind when the gateway itself is killed', async () => {
    const pool = new URL('../../src/outcomes/adapters/pool.ts', import.meta.url).href
    const code = `import { createAnalyserPool } from '${pool}'
      const pool = createAnalyserPool({ workerUrl: new URL('${hostileUrl.href}'), workers: 1, budgetMs: ${FOREVER_MS} })
      const { value } = await pool.run('process', null)
      process.stdout.write(String(value))
      setInterval(() => {}, 1000)`
    const gateway = spawn(process.execPath, ['--input-type=module', '-e', code], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    const [written] = (await once(gateway.stdout, 'data')) as [Buffer]
    const pid = Number(written.toString())
    expect(isRunning(pid)).toBe(true)
    gateway.kill('SIGKILL')
    await expect.poll(() => isRunning(pid)).toBe(false)
  })

  it('never has more processes than it may', async () => {
    const { run } = openPool({ workers: 2 })
    const seen = await Promise.all(Array.from({ length: 30 }, () => run('process')))
    const ids = new Set(seen.map((answer) => (answer as { value: number }).value))
    expect(ids.size).toBeLessThanOrEqual(2)
  })

  it('ends processes that have nothing to do', async () => {
    const { run } = openPool({ idleMs: 1 })
    const first = await run('process')
    await expect.poll(() => run('process')).not.toEqual(first)
  })

  it('takes nothing after it was closed, and closes once', async () => {
    const { pool, run } = openPool()
    await run('echo')
    await Promise.all([pool.close(), pool.close()])
    expect(await rejection(run('echo'))).toMatchObject({ code: 'draining' })
  })
})
