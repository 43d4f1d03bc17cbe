// Sources in parallel: order, fallbacks, deadlines, coverage, and how many at once. Nothing here is read from a network.
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { Coverage, type RedirectRule } from '../../../schemas/sources.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import type { ProgressReport } from '../../../src/core/progress.ts'
import type { Gather, SourceReader } from '../../../src/outcomes/ports.ts'
import type { PageInput, Reading } from '../../../src/outcomes/reading.ts'
import { createGather, type GatherLimits } from '../../../src/outcomes/sources/gather.ts'

const START = 1_790_000_000_000
type Read = Awaited<ReturnType<SourceReader['read']>>
type Answer = Read | Promise<Read>

const fetched = (url: string, over: Partial<(Read & { ok: true })['source']> = {}): Read => ({
  ok: true,
  source: {
    url,
    status: 200,
    contentType: 'text/plain',
    contentLanguage: null,
    etag: '"1"',
    lastModified: null,
    body: Buffer.from(url),
    isCut: false,
    sha256: 'a'.repeat(64),
    retrievedAt: START,
    ageSeconds: 0,
    cache: 'miss',
    ...over,
  },
})
const lost: Read = { ok: false, reason: 'connection_lost', detail: 'Lost.' }
const reading = (value: string): Reading<string> => ({
  ok: true,
  format: 'text',
  charset: { name: 'utf-8', from: 'content', replaced: 0 },
  textSha256: 'b'.repeat(64),
  value,
})
const readText = async ({ body }: PageInput) => reading(Buffer.from(body).toString())
const source = (url: string, ...fallbacks: string[]) => ({ url, fallbacks })

/** @param answers by address; what is not there is lost */
function world(
  answers: Readonly<Record<string, Answer | (() => Answer)>>,
  limits: Partial<GatherLimits> = {},
) {
  const asked: { url: string; timeoutMs: number; isAborted: () => boolean }[] = []
  const clock = { at: START }
  const reports: ProgressReport[] = []
  const gather = createGather({
    rules: { ports: [443] },
    now: () => clock.at,
    limits,
    reader: {
      async read(url, { timeoutMs, signal }) {
        asked.push({ url, timeoutMs, isAborted: () => signal.aborted })
        const given = answers[url] ?? lost
        return typeof given === 'function' ? given() : given
      },
    },
  })
  const run = <T = string>(
    sources: Parameters<Gather>[0],
    analyse: (input: PageInput) => Promise<Reading<T>> = readText as never,
    signal = new AbortController().signal,
    redirects: RedirectRule = 'same_site',
  ) =>
    gather<T>(
      sources,
      { wanted: 'page', maxAgeSeconds: 0, redirects, signal, progress: (each) => void reports.push(each) },
      analyse,
    )
  return { asked, clock, run, reports }
}

describe('progress', () => {
  it('tells of each source when it answers and when it is read, in the order in which that happens', async () => {
    const slow = Promise.withResolvers<Read>()
    const { run, reports } = world({ a: slow.promise, b: fetched('b') })
    const done = run([source('a'), source('b')])
    await vi.waitFor(() => expect(reports.at(-1)?.done).toBe(3), { timeout: 60_000 })
    expect(reports.map(({ message }) => message)).toEqual([
      'Reading 2 sources',
      'Source 2 of 2 has answered',
      'Source 2 of 2 is read',
    ])
    slow.resolve(fetched('a'))
    await done
    expect(reports.map(({ done: at, total }) => [at, total])).toEqual([1, 2, 3, 4, 5].map((at) => [at, 5]))
  })

  it('counts a source that gives nothing, and one whose fallback answers, as two steps like any other', async () => {
    const empty = async (): Promise<Reading<string>> => ({
      ok: false,
      reason: 'no_content',
      detail: 'Nothing.',
    })
    const lostOne = world({})
    await lostOne.run([source('gone')])
    expect(lostOne.reports).toEqual([
      { done: 1, total: 3, message: 'Reading the source' },
      { done: 3, total: 3, message: 'The source gave nothing usable' },
    ])
    const twice = world({ a: fetched('a'), b: fetched('b') })
    await twice.run([source('a', 'b')], empty)
    expect(twice.reports.map(({ done }) => done)).toEqual([1, 2, 3])
  })
})

describe('coverage', () => {
  it('says of every source what was read, in the order of the request', async () => {
    const slow = Promise.withResolvers<Read>()
    const { run } = world({ a: slow.promise, b: () => (slow.resolve(fetched('a')), fetched('b')) })
    const { coverage, usable } = await run([source('a'), source('b')])
    expect(coverage).toMatchObject({ asked: 2, usable: 2, failed: 0, complete: true })
    expect(coverage.sources.map(({ requested }) => requested)).toEqual(['a', 'b'])
    expect(usable.map((each) => [each.source, each.reading.value, each.fetched.url])).toEqual([
      [0, 'a', 'a'],
      [1, 'b', 'b'],
    ])
    expect(coverage.sources[0]).toEqual({
      requested: 'a',
      ok: true,
      fallback_used: false,
      reason: null,
      attempts: [
        {
          url: 'a',
          role: 'source',
          ok: true,
          reason: null,
          detail: null,
          http_status: 200,
          redirect_to: null,
          duration_ms: 0,
        },
      ],
      retrieved: {
        url: 'a',
        http_status: 200,
        retrieved_at: new Date(START).toISOString(),
        age_seconds: 0,
        cache: 'miss',
        content_type: 'text/plain',
        format: 'text',
        charset: { name: 'utf-8', from: 'content', replaced: 0 },
        bytes: 1,
        truncated: false,
        etag: '"1"',
        last_modified: null,
        source_sha256: 'a'.repeat(64),
        text_sha256: 'b'.repeat(64),
      },
    })
    expect(Coverage.parse(coverage)).toEqual(coverage)
  })

  it('keeps what one source gave when the others gave nothing', async () => {
    const redirect: Read = {
      ok: false,
      reason: 'redirect_insecure',
      detail: 'Elsewhere.',
      httpStatus: 301,
      redirectTo: 'https://b.example.com/',
    }
    const { run } = world({ a: redirect, c: fetched('c') })
    const { coverage, usable } = await run([source('a'), source('b'), source('c')])
    expect(coverage).toMatchObject({ asked: 3, usable: 1, failed: 2, complete: false })
    expect(coverage.sources.map(({ reason }) => reason)).toEqual([
      'redirect_insecure',
      'connection_lost',
      null,
    ])
    expect(coverage.sources[0]!.attempts[0]).toMatchObject({
      http_status: 301,
      redirect_to: 'https://b.example.com/',
      detail: 'Elsewhere.',
    })
    expect(usable.map((each) => each.source)).toEqual([2])
  })

  it('is not complete when a source is longer than what was read', async () => {
    const { run } = world({ a: fetched('a', { isCut: true }) })
    const { coverage } = await run([source('a')])
    expect(coverage).toMatchObject({ usable: 1, failed: 0, complete: false })
    expect(coverage.sources[0]!.retrieved!.truncated).toBe(true)
  })

  it('counts for every mixture of what can happen', async () => {
    const kind = fc.constantFrom('ok', 'cut', 'lost', 'unusable')
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(kind, fc.option(kind, { nil: undefined })), { maxLength: 3 }),
        async (kinds) => {
          const answers: Record<string, Read> = {}
          const sources = kinds.map(([first, second], i) => {
            for (const [at, which] of [first, second].entries())
              answers[`${i}${at}${which}`] =
                which === 'lost' ? lost : fetched(`${i}${at}${which}`, { isCut: which === 'cut' })
            return source(`${i}0${first}`, ...(second ? [`${i}1${second}`] : []))
          })
          const { run } = world(answers)
          const { coverage, usable } = await run<string>(sources, async ({ url }) =>
            url.endsWith('unusable') ? { ok: false, reason: 'no_content', detail: 'None.' } : reading(url),
          )
          const isGood = (which: string | undefined) => which === 'ok' || which === 'cut'
          const expected = kinds.map(([first, second]) =>
            isGood(first) ? first : isGood(second) ? second : undefined,
          )
          const good = expected.filter(isGood)
          expect(coverage).toMatchObject({
            asked: kinds.length,
            usable: good.length,
            failed: kinds.length - good.length,
            complete: kinds.length > 0 && expected.every((which) => which === 'ok'),
          })
          expect(usable).toHaveLength(good.length)
          expect(coverage.sources.map(({ fallback_used }) => fallback_used)).toEqual(
            kinds.map(([first, second]) => !isGood(first) && isGood(second)),
          )
          for (const { reading: read, source: index } of usable)
            expect(read.value).toBe(coverage.sources[index]!.retrieved!.url)
        },
      ),
    )
  })
})

describe('a fallback', () => {
  it('is not asked where the source itself is usable', async () => {
    const { run, asked } = world({ a: fetched('a'), b: fetched('b') })
    await run([source('a', 'b')])
    expect(asked.map(({ url }) => url)).toEqual(['a'])
  })

  it('is used where the source cannot be read', async () => {
    const { run } = world({ b: fetched('b') })
    const { coverage, usable } = await run([source('a', 'b')])
    expect(coverage).toMatchObject({ usable: 1, complete: true })
    expect(coverage.sources[0]).toMatchObject({
      requested: 'a',
      ok: true,
      fallback_used: true,
      reason: null,
      attempts: [
        { url: 'a', role: 'source', ok: false, reason: 'connection_lost' },
        { url: 'b', role: 'fallback', ok: true, reason: null },
      ],
      retrieved: { url: 'b' },
    })
    expect(usable[0]!.reading.value).toBe('b')
  })

  it('is used where what the source gave is not usable', async () => {
    const { run } = world({ a: fetched('a'), b: fetched('b') })
    const { coverage } = await run<string>([source('a', 'b')], async ({ url }) =>
      url === 'a' ? { ok: false, reason: 'feed_is_html', detail: 'A page.' } : reading(url),
    )
    expect(coverage.sources[0]!.attempts).toMatchObject([
      { reason: 'feed_is_html', detail: 'A page.', http_status: 200 },
      { ok: true },
    ])
  })

  it('that fails too leaves the reason of the source', async () => {
    const { run } = world({ a: { ok: false, reason: 'http_status', detail: 'No.', httpStatus: 500 } })
    const { coverage, usable } = await run([source('a', 'b')])
    expect(usable).toEqual([])
    expect(coverage.sources[0]).toMatchObject({
      ok: false,
      fallback_used: false,
      reason: 'http_status',
      attempts: [
        { reason: 'http_status', http_status: 500 },
        { role: 'fallback', reason: 'connection_lost', http_status: null },
      ],
      retrieved: null,
    })
  })

  it('gets what is left of the time of its source', async () => {
    const { run, asked, clock } = world({ a: () => ((clock.at += 8_000), lost), b: fetched('b') })
    await run([source('a', 'b')])
    expect(asked.map(({ timeoutMs }) => timeoutMs)).toEqual([6_000, 4_000])
  })

  it('is not asked when no time is left, and the coverage says so', async () => {
    const { run, asked, clock } = world({ a: () => ((clock.at += 12_000), lost) })
    const { coverage } = await run([source('a', 'b')])
    expect(asked.map(({ url }) => url)).toEqual(['a'])
    expect(coverage.sources[0]!.attempts[1]).toMatchObject({ url: 'b', ok: false, reason: 'timeout' })
  })

  it('is not asked for somebody who went away', async () => {
    const leave = new AbortController()
    const { run, asked } = world({ a: () => (leave.abort(), lost), b: fetched('b') })
    await run([source('a', 'b')], undefined, leave.signal)
    expect(asked.map(({ url }) => url)).toEqual(['a'])
  })
})

describe('what is read out of a source', () => {
  it('is given up when it never ends, and then nobody pays for it', async () => {
    const { run, asked } = world({ a: fetched('a'), b: fetched('b') }, { sourceMs: 1, minAnalysisMs: 1 })
    const stuck = run<string>([source('a', 'b')], () => new Promise(() => {}))
    await expect(stuck).rejects.toMatchObject({ code: 'overloaded', status: 503 })
    expect(asked.map(({ url }) => url)).toEqual(['a'])
  })

  it('may use up the bytes it was given', async () => {
    const { run } = world({ a: fetched('a', { body: Buffer.from(new Uint8Array(64).buffer) }) })
    const { coverage } = await run<string>([source('a')], async ({ body }) => {
      structuredClone(body.buffer, { transfer: [body.buffer as ArrayBuffer] })
      return reading('')
    })
    expect(coverage.sources[0]!.retrieved!.bytes).toBe(64)
  })

  it('ends the whole outcome when the gateway itself is at its limit, and stops the other reads', async () => {
    const { run, asked } = world({ a: fetched('a'), b: new Promise(() => {}) })
    const refused = run<string>([source('a'), source('b')], () =>
      Promise.reject(new GatewayError('overloaded', 'Full.')),
    )
    await expect(refused).rejects.toMatchObject({ code: 'overloaded' })
    expect(asked.map(({ isAborted }) => isAborted())).toEqual([true, true])
  })
})

describe('sources read at once', () => {
  it('are bounded: what is more is refused before anything is asked', async () => {
    const gates = [Promise.withResolvers<Read>(), Promise.withResolvers<Read>()]
    const { run, asked } = world({ a: gates[0]!.promise, b: gates[1]!.promise }, { maxReads: 3 })
    const first = run([source('a'), source('b')])
    await expect(run([source('c'), source('d')])).rejects.toMatchObject({
      code: 'overloaded',
      status: 503,
      extras: { retry_after_seconds: expect.any(Number) },
    })
    expect(asked.map(({ url }) => url)).toEqual(['a', 'b'])
    expect((await run([source('c')])).coverage.asked).toBe(1)
    // The place of a source is free as soon as that source is done, not the whole outcome.
    gates[0]!.resolve(lost)
    await expect
      .poll(() =>
        run([source('c'), source('d')]).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true)
    gates[1]!.resolve(lost)
    await first
    expect((await run([source('c'), source('d'), source('e')])).coverage.asked).toBe(3)
  })

  it('leave no place taken when one of them throws', async () => {
    const { run } = world({ a: fetched('a') }, { maxReads: 1 })
    const boom = () => Promise.reject(new Error('boom'))
    for (let i = 0; i < 3; i++) await expect(run([source('a')], boom)).rejects.toThrow('boom')
    expect((await run([source('a')])).usable).toHaveLength(1)
  })
})

describe('a site whose pages are cut off again and again', () => {
  const cutOff = async () => ({ ok: false, reason: 'budget_exceeded', detail: 'Slow.' }) as const
  const pages = ['https://a.slow.example.com/1', 'https://b.slow.example.com/2', 'https://other.example.net/']
  const open = () => world(Object.fromEntries(pages.map((url) => [url, fetched(url)])))
  const slow = [source(pages[0]!), source(pages[1]!)]

  it('waits, under whatever name of it, while others are read', async () => {
    const { run, asked } = open()
    for (let i = 0; i < 3; i++) await run(slow, cutOff)
    const before = asked.length
    const { coverage } = await run([...slow, source(pages[2]!)])
    expect(coverage.sources.map(({ reason }) => reason)).toEqual(['budget_exceeded', 'budget_exceeded', null])
    expect(coverage.sources[0]!.attempts[0]!.detail).toMatch(/ten minutes/)
    expect(asked.slice(before).map(({ url }) => url)).toEqual([pages[2]])
  })

  it('is read again after ten minutes', async () => {
    const { run, clock } = open()
    for (let i = 0; i < 3; i++) await run(slow, cutOff)
    clock.at += 10 * 60_000
    expect((await run(slow)).coverage.usable).toBe(2)
  })

  it('is not one that was slow a few times, or says nothing', async () => {
    const { run } = open()
    for (let i = 0; i < 2; i++) await run(slow, cutOff)
    for (let i = 0; i < 9; i++)
      await run(slow, async () => ({ ok: false, reason: 'no_content', detail: 'Nothing.' }))
    expect((await run(slow)).coverage.usable).toBe(2)
  })
})
