// Which redirects of a source are followed, where they may lead, and what the coverage says of each.
import { describe, expect, it } from 'vitest'
import { Coverage, type RedirectRule } from '../../../schemas/sources.ts'
import type { SourceReader } from '../../../src/outcomes/ports.ts'
import type { PageInput, Reading } from '../../../src/outcomes/reading.ts'
import { createGather } from '../../../src/outcomes/sources/gather.ts'
import { readRedirect } from '../../../src/outcomes/sources/redirect.ts'

const RULES = { ports: [443] }
const START = 'https://example.com/a'
const lead = (location: string | undefined, base = START) => readRedirect(location, base, 301, RULES)

describe('where a redirect leads', () => {
  it.each([
    ['/b', 'https://example.com/b'],
    ['https://www.example.com/a', 'https://www.example.com/a'],
    ['https://EXAMPLE.com:443/b#part', 'https://example.com/b'],
    ['/caf%c3%a9?q=%e2%82%ac', 'https://example.com/caf%C3%A9?q=%E2%82%AC'],
    ['/%7euser/%61', 'https://example.com/~user/a'],
    ['/\u00c3\u00a9', 'https://example.com/%C3%A9'],
    ['/\u00e9', 'https://example.com/%C3%A9'],
  ])('%s is one canonical address', (location, expected) =>
    expect(lead(location)).toMatchObject({ reason: 'redirected', redirectTo: expected, httpStatus: 301 }),
  )

  it.each([
    [undefined, 'redirected'],
    ['http://example.com/a', 'redirect_insecure'],
    ['ftp://example.com/a', 'redirect_invalid'],
    ['data:text/html,x', 'redirect_invalid'],
    ['https://name:word@example.com/', 'redirect_invalid'],
    ['https://name@example.com/', 'redirect_invalid'],
    [`/${'a'.repeat(9000)}`, 'redirect_invalid'],
    ['/a//b', 'redirect_invalid'],
    ['/a/%2e%2e%2fadmin', 'redirect_invalid'],
    ['https://10.0.0.1/', 'target_blocked'],
    ['https://2130706433/', 'target_blocked'],
    ['https://[::ffff:169.254.169.254]/', 'target_blocked'],
    ['https://localhost/', 'target_blocked'],
    ['https://db.internal/', 'target_blocked'],
    ['https://example.com:22/', 'target_blocked'],
  ])('%s is refused: %s', (location, reason) => {
    const refused = lead(location)
    expect(refused.reason).toBe(reason)
    expect(JSON.stringify(refused)).not.toContain('word')
    if (reason === 'redirected') expect(refused.redirectTo).toBeUndefined()
  })

  it('says which address with TLS to send instead of one without', () => {
    expect(lead('http://www.example.com/x').detail).toMatch(/Send https:\/\/www\.example\.com\/x instead/)
  })
})

/** @param pages what each address answers: an address is a redirect there, anything else a page */
async function gather(
  pages: Readonly<Record<string, string>>,
  { rule = 'same_site' as RedirectRule, url = START, fallback = [] as string[], slowMs = 0 } = {},
) {
  const asked: string[] = []
  const timeouts: number[] = []
  const clock = { at: 1_790_000_000_000 }
  const reader: SourceReader = {
    async read(address, { timeoutMs }) {
      asked.push(address)
      timeouts.push(timeoutMs)
      clock.at += slowMs
      const answer = pages[address]
      if (answer === undefined) return { ok: false, reason: 'http_status', detail: 'Gone.', httpStatus: 404 }
      if (/^(?:https?:|\/)/.test(answer)) return readRedirect(answer, address, 302, RULES)
      return {
        ok: true,
        source: {
          url: address,
          status: 200,
          contentType: null,
          contentLanguage: null,
          etag: null,
          lastModified: null,
          body: Buffer.from(answer),
          isCut: false,
          sha256: 'a'.repeat(64),
          retrievedAt: clock.at,
          ageSeconds: 0,
          cache: 'miss',
        },
      }
    },
  }
  const analyse = async ({ body }: PageInput): Promise<Reading<string>> => {
    const text = Buffer.from(body).toString()
    const [kind, to] = text.split(' ')
    if (kind === 'meta_refresh' || kind === 'feed_link')
      return {
        ok: false,
        reason: kind === 'feed_link' ? 'feed_is_html' : 'refresh_stub',
        detail: 'It leads on.',
        lead: { kind, url: to! },
      }
    return { ok: true, format: 'html', charset: null, textSha256: null, value: text }
  }
  const run = createGather({ reader, rules: RULES, now: () => clock.at })
  const result = await run(
    [{ url, fallbacks: fallback }],
    { wanted: 'page', maxAgeSeconds: 0, redirects: rule, signal: new AbortController().signal },
    analyse,
  )
  Coverage.parse(result.coverage)
  const [attempt] = result.coverage.sources[0]!.attempts
  return { ...result, asked, timeouts, attempt: attempt!, value: result.usable[0]?.reading.value }
}

describe('a chain of redirects', () => {
  it('of one address to another of its site is followed, and every address of it is recorded', async () => {
    const { value, attempt, coverage } = await gather({
      [START]: 'https://www.example.com/a',
      'https://www.example.com/a': '/a/',
      'https://www.example.com/a/': 'page',
    })
    expect(value).toBe('page')
    expect(attempt).toMatchObject({
      url: START,
      ok: true,
      http_status: 200,
      redirect_to: null,
      redirects: [
        { url: START, http_status: 302, to: 'https://www.example.com/a', kind: 'http' },
        {
          url: 'https://www.example.com/a',
          http_status: 302,
          to: 'https://www.example.com/a/',
          kind: 'http',
        },
      ],
    })
    expect(coverage.sources[0]!.retrieved!.url).toBe('https://www.example.com/a/')
  })

  it('is not in the coverage of what did not redirect', async () => {
    expect((await gather({ [START]: 'page' })).attempt).not.toHaveProperty('redirects')
  })

  it('is followed three times and no more, whatever leads on', async () => {
    const chain = (length: number) =>
      Object.fromEntries(
        Array.from({ length: length + 1 }, (_, i) => [
          i === 0 ? START : `https://example.com/${i}`,
          i === length ? 'page' : i % 2 === 0 ? `/${i + 1}` : `meta_refresh https://example.com/${i + 1}`,
        ]),
      )
    expect((await gather(chain(3))).value).toBe('page')
    const { attempt, asked, coverage } = await gather(chain(4))
    expect(attempt).toMatchObject({
      reason: 'too_many_redirects',
      redirect_to: 'https://example.com/4',
      detail: expect.stringMatching(/redirect_to/),
    })
    expect(attempt.redirects).toHaveLength(3)
    expect(asked).toHaveLength(4)
    expect(coverage.usable).toBe(0)
  })

  it.each([
    [{ [START]: '/a' }, 1],
    [{ [START]: '/b', 'https://example.com/b': '/a' }, 2],
    [{ [START]: '/b', 'https://example.com/b': `meta_refresh ${START}` }, 2],
  ])('that leads back is a loop', async (pages, requests) => {
    const { attempt, asked } = await gather(pages as Record<string, string>)
    expect(attempt).toMatchObject({ reason: 'redirect_loop', redirect_to: START })
    expect(asked).toHaveLength(requests)
  })

  it('is not followed at all where the buyer wants none', async () => {
    for (const answer of ['/b', 'meta_refresh https://example.com/b', 'feed_link https://example.com/b']) {
      const { attempt, asked } = await gather({ [START]: answer }, { rule: 'none' })
      expect(attempt).toMatchObject({ ok: false, redirect_to: 'https://example.com/b' })
      expect(['redirected', 'refresh_stub', 'feed_is_html']).toContain(attempt.reason)
      expect(attempt.detail).toMatch(/redirect_to/)
      expect(asked).toEqual([START])
    }
  })

  it.each([
    ['https://other.example.org/', 'https://example.com/a'],
    ['https://b.github.io/', 'https://a.github.io/'],
    ['https://example.com.evil.net/', 'https://example.com/a'],
    ['https://b.co.uk/', 'https://a.co.uk/'],
  ])('to another site, %s, is followed only if the buyer allows it', async (to, url) => {
    const pages = { [url]: to, [to]: 'elsewhere' }
    const { attempt, asked } = await gather(pages, { url })
    expect(attempt).toMatchObject({
      reason: 'redirected',
      redirect_to: to,
      detail: expect.stringMatching(/any/),
    })
    expect(asked).toEqual([url])
    expect((await gather(pages, { url, rule: 'any' })).value).toBe('elsewhere')
  })

  it('cannot leave the site in two steps', async () => {
    const { attempt, asked } = await gather({
      [START]: 'https://m.example.com/',
      'https://m.example.com/': 'meta_refresh https://tracker.example.net/',
    })
    expect(attempt).toMatchObject({ reason: 'refresh_stub', redirect_to: 'https://tracker.example.net/' })
    expect(asked).toHaveLength(2)
  })

  it.each([
    ['http://example.com/b', 'redirect_insecure'],
    ['meta_refresh http://example.com/b', 'redirect_insecure'],
    ['https://127.0.0.1/', 'target_blocked'],
    ['meta_refresh https://127.0.0.1/', 'target_blocked'],
    ['feed_link https://127.0.0.1/', 'feed_is_html'],
  ])('to %s ends before it, also where any is allowed', async (answer, reason) => {
    const { attempt, asked } = await gather({ [START]: answer }, { rule: 'any' })
    expect(attempt).toMatchObject({ ok: false, reason })
    expect(asked).toEqual([START])
  })

  it('to what is not there says so, and by which way it came', async () => {
    const { attempt } = await gather({ [START]: '/gone' })
    expect(attempt).toMatchObject({
      reason: 'http_status',
      http_status: 404,
      redirects: [{ to: 'https://example.com/gone' }],
    })
  })

  it('has the time of one address, and the fallback has its own', async () => {
    const { timeouts, attempt, value } = await gather(
      {
        [START]: '/1',
        'https://example.com/1': '/2',
        'https://example.com/2': '/3',
        'https://b.example/': 'page',
      },
      { slowMs: 2500, fallback: ['https://b.example/'] },
    )
    expect(timeouts).toEqual([6000, 3500, 1000, 4500])
    expect(attempt).toMatchObject({ reason: 'timeout' })
    expect(value).toBe('page')
  })
})
