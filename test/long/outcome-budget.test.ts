// Pages made to be slow, read by the real analyses in real processes: each gets an answer or a reason, nobody waits for it.
import { createHash } from 'node:crypto'
import { afterEach, describe, expect, it } from 'vitest'
import type { WebExtractionResult } from '../../schemas/web-extraction.ts'
import { createAnalyserPool, type PoolOptions } from '../../src/outcomes/adapters/pool.ts'
import { webExtraction } from '../../src/outcomes/capabilities/web-extraction.ts'
import type { Analyser } from '../../src/outcomes/ports.ts'
import { createGather } from '../../src/outcomes/sources/gather.ts'
import { HOSTILE_PAGES, MAX_BYTES } from '../support/hostile-pages.ts'

const slowUrl = new URL('../support/slow-worker.ts', import.meta.url)
const open: Analyser[] = []

afterEach(async () => {
  await Promise.all(open.splice(0).map((pool) => pool.close()))
})

function openPool(options: PoolOptions = {}): Analyser {
  // What cuts off here is the budget, however long processes take to start.
  const pool = createAnalyserPool({ maxWaitMs: 60_000, startMs: 60_000, ...options })
  open.push(pool)
  return pool
}

/** One purchase of the pages of this site, by path. */
async function extract(analyser: Analyser, site: Readonly<Record<string, string | Buffer>>, query?: string) {
  const urls = Object.keys(site).map((path) => `https://site.example${path}`)
  const gather = createGather({
    rules: { ports: [443] },
    now: Date.now,
    // What cuts off here is the pool.
    limits: { sourceMs: 60_000 },
    reader: {
      async read(url) {
        const body = Buffer.from(site[new URL(url).pathname]!).subarray(0, MAX_BYTES)
        return {
          ok: true,
          source: {
            url,
            status: 200,
            contentType: url.endsWith('.json') ? 'application/json' : 'text/html; charset=utf-8',
            contentLanguage: null,
            etag: null,
            lastModified: null,
            body,
            isCut: body.length === MAX_BYTES,
            sha256: createHash('sha256').update(body).digest('hex'),
            retrievedAt: Date.now(),
            ageSeconds: 0,
            cache: 'miss',
          },
        }
      },
    },
  })
  const job = webExtraction.prepare(
    new Map<'urls' | 'query', unknown>([
      ['urls', urls],
      ['query', query],
    ]),
    {
      isDemo: false,
    },
  )
  const { result } = await job.run({ gather, analyser, signal: new AbortController().signal })
  return result as WebExtractionResult
}

const good =
  '<main><h1>Tea</h1><p>Green tea is steeped in water of seventy degrees for two minutes.</p></main>'
const neverFinished = `${good}<!-- never finished -->`

describe('a page that is never finished', () => {
  it('is cut off with its own reason, and the others are delivered', async () => {
    // Enough for the others too, whose process has just started beside one that is spinning.
    const analyser = openPool({ workerUrl: slowUrl, workers: 2, budgetMs: 8_000 })
    const result = await extract(analyser, { '/a': good, '/slow': neverFinished, '/b': good })
    expect(result.coverage.sources.map(({ ok, reason }) => [ok, reason])).toEqual([
      [true, null],
      [false, 'budget_exceeded'],
      [true, null],
    ])
    expect(result.documents.map(({ source }) => source)).toEqual([0, 2])
    expect(result.duplicates).toMatchObject([{ kind: 'exact' }])
  })

  it('is not charged when it is the only one', async () => {
    const analyser = openPool({ workerUrl: slowUrl, budgetMs: 50 })
    await expect(extract(analyser, { '/slow': neverFinished })).rejects.toMatchObject({
      code: 'sources_unusable',
      extras: { coverage: { sources: [{ reason: 'budget_exceeded' }] } },
    })
  })

  it('keeps nobody else waiting: whole purchases go on beside it', async () => {
    const analyser = openPool({ workerUrl: slowUrl, workers: 2, budgetMs: 1_000_000 })
    // It holds one process until the pool is closed.
    const slow = extract(analyser, { '/slow': neverFinished }).catch((thrown: unknown) => thrown)
    for (let i = 0; i < 5; i++) {
      const { documents } = await extract(analyser, { '/a': good })
      expect(documents).toHaveLength(1)
    }
    await open.pop()!.close()
    expect(await slow).toMatchObject({ code: 'draining' })
  })
})

describe('two mebibytes made to be slow', () => {
  it.each(HOSTILE_PAGES)('of %s: an answer or a reason, and the next page is read', async (_, make) => {
    const analyser = openPool({ workers: 1, budgetMs: 1000 })
    const answer = await extract(analyser, { '/slow': make() }, 'word tea محمد 漢字').catch(
      (thrown: { code: string; extras: { coverage: WebExtractionResult['coverage'] } }) => {
        expect(thrown.code).toBe('sources_unusable')
        return thrown.extras
      },
    )
    const [source] = answer.coverage.sources
    // How much it takes until then is what `npm run bench -- outcomes` shows.
    expect(source!.reason ?? 'read').toMatch(/^(?:read|no_content|empty|binary|budget_exceeded|unreadable)$/)
    expect(Buffer.byteLength(JSON.stringify(answer))).toBeLessThan(1_500_000)
    // On a machine that is slow enough a new process may take a second even for an empty list: what matters is that one takes it.
    await expect
      .poll(() => analyser.run('relate', { documents: [], query: null }))
      .toMatchObject({ ok: true })
  })
})
