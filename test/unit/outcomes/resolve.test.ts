import { describe, expect, it } from 'vitest'
import { neverGone } from '../../../src/core/priced-run.ts'
import { ExecuteRequest } from '../../../schemas/execute-request.ts'
import type { OutcomeId } from '../../../schemas/outcome.ts'
import { descriptorsIn } from '../../../src/outcomes/descriptors.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { resolveJob } from '../../../src/outcomes/resolve.ts'
import { requestedSources } from '../../../src/outcomes/sources/requested.ts'
import { createTestOutcomes, previewOf } from '../../support/outcomes.ts'
import { claimsOf, resolve, uses } from '../../support/uses.ts'

const HTML = '<p>Hello</p>'
const A = 'https://a.example.com/'
const B = 'https://b.example.com/x'
const outcomes = createTestOutcomes()
const context = {
  signal: neverGone,
}
async function execute(input: unknown) {
  const execution = await outcomes.plan(ExecuteRequest.parse(input)).run(context)
  return { ...execution, result: previewOf(execution) }
}

async function refusalOf(input: unknown): Promise<GatewayError> {
  try {
    await execute(input)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('was not refused')
}

describe('one job, however it is said', () => {
  it.each<[string, unknown]>([
    ['html alone', { html: HTML }],
    ['capability and html', { capability: 'extract-preview', html: HTML }],
    ['an intent that names the capability', { intent: 'extract-preview please', html: HTML }],
    ['an intent with the HTML in it', { intent: `read this ${HTML}` }],
    ['an intent object', { intent: { capability: 'extract-preview', html: HTML } }],
    ['an intent object with words', { intent: { goal: 'extract-preview', input: { html: HTML } } }],
    ['input', { input: { capability: 'extract-preview', html: HTML } }],
    ['arguments beside the name of the tool', { name: 'gateway_execute', arguments: { html: HTML } }],
    ['a tool in the portable spelling', { tool: 'extract_preview', input: { html: HTML } }],
    ['a task with a skill', { task: { skill: 'extract-preview', input: { html: HTML } } }],
    [
      'an HTTP request to this endpoint',
      { http: { method: 'POST', url: '/v1/execute', body: { html: HTML } } },
    ],
    [
      'an HTTP request with its body as text',
      {
        http: { method: 'POST', url: 'https://gw.example/v1/execute', body: JSON.stringify({ html: HTML }) },
      },
    ],
    [
      'an operation on this endpoint',
      { operation: { method: 'POST', url: 'https://gw.example/v1/execute', body: { html: HTML } } },
    ],
    [
      'a curl command to this endpoint',
      { command: `curl -sX POST http://127.0.0.1/v1/execute --json '{"html":"${HTML}"}'` },
    ],
    ['a capability in a command and html beside it', { command: 'extract-preview', html: HTML }],
    ['the same html twice', { html: HTML, input: { html: HTML } }],
  ])('reads %s', async (_, input) => {
    const { capability, intent, result } = await execute(input)
    expect(capability).toBe('extract-preview')
    expect(intent.kind).toBe('capability')
    expect(result.document.text).toBe('Hello')
    expect(result.sample).toBe(false)
  })

  it.each([
    'demo',
    'Demo!',
    'please show me a demo',
    'run the demo',
    'I want a free demo sample',
    'تجربة',
    'أريد تجربة من فضلك',
    'عرض تجريبي',
    'ديمو',
  ])('gives the demo for "%s"', async (intent) => {
    const answer = await execute({ intent })
    expect(answer.intent.kind).toBe('demo')
    expect(answer.result).toMatchObject({ sample: true, source: { origin: 'sample' } })
    expect(answer.cost).toMatchObject({ amount_atomic: '0', paid: false, network: null })
    expect(answer.receipt).toBeNull()
  })

  it.each(['a demolition company', 'write a demo song', 'عرض الاسعار'])(
    'does not take "%s" for the demo',
    async (intent) => {
      expect((await refusalOf({ intent })).code).toMatch(/^(intent_unknown|input_missing_field)$/)
    },
  )

  it('gives the demo for an intent object, an action or a name too', async () => {
    for (const input of [
      { intent: { type: 'demo' } },
      { intent: { text: 'a demo' } },
      { action: 'demo' },
      { name: 'demo' },
    ])
      expect((await execute(input)).intent.kind).toBe('demo')
  })

  it('takes no address but http and https for a base', async () => {
    const { intent, result } = await execute({ html: '<a href="b">b</a>', url: 'urn:x' })
    expect(intent.request).toMatchObject({ base_url: null })
    expect(result.document.links).toMatchObject([{ url: 'b', absolute: false, text: 'b' }])
  })

  it('resolves relative links against url without fetching it', async () => {
    const { result, intent } = await execute({ html: '<a href="/b">b</a>', url: 'https://a.example/x' })
    expect(result.document.links).toMatchObject([{ url: 'https://a.example/b', absolute: true, text: 'b' }])
    expect(intent.request).toMatchObject({ base_url: 'https://a.example/x' })
  })

  it('names options that have no effect and says where the job was read from', async () => {
    const { intent } = await execute({ limit: 3, testnet: true, input: { html: HTML, query: 'x' } })
    expect(intent.ignored).toEqual(['/limit', '/testnet', '/input/query'])
    expect(intent.read_from).toEqual(['/input/html'])
  })

  it('does not count defaults as said', async () => {
    expect((await execute({ html: HTML, max_age_seconds: 0, testnet: false })).intent.ignored).toEqual([])
  })
})

describe('conflicts are refused and named', () => {
  it.each<[string, unknown, string[]]>([
    ['two different html', { html: 'a', input: { html: 'b' } }, ['/html', '/input/html']],
    [
      'two capabilities',
      { capability: 'extract-preview', tool: 'feed-digest', html: HTML },
      ['/capability', '/tool'],
    ],
    [
      'capability and intent',
      { capability: 'extract-preview', intent: 'feed-digest', html: HTML },
      ['/capability', '/intent'],
    ],
    ['demo and own html', { intent: 'demo', html: HTML }, ['/intent', '/html']],
    ['html and addresses', { html: HTML, urls: ['https://a.example/'] }, ['/urls', '/html']],
    [
      'a capability without use for the source',
      { capability: 'extract-preview', html: HTML, sources: ['https://a.example/'] },
      ['/capability', '/html', '/sources'],
    ],
    ['two names in words', { intent: 'web-extraction', action: 'feed-digest' }, ['/action', '/intent']],
    ['demo and an address in words', { intent: `demo ${A}` }, ['/intent']],
    [
      'two commands for the base',
      { html: HTML, url: 'https://a.example/', http: { url: 'https://b.example/' } },
      ['/url', '/http/url'],
    ],
  ])('%s', async (_, input, pointers) => {
    const refusal = await refusalOf(input)
    expect(refusal.code).toBe('input_conflict')
    expect(refusal.extras.fields?.map(({ pointer }) => pointer).sort()).toEqual(pointers.sort())
    for (const pointer of pointers) expect(refusal.message).toContain(pointer)
  })
})

describe('a capability that does not run', () => {
  it.each<[OutcomeId, unknown]>([
    ['web-extraction', { capability: 'web-extraction', url: A }],
    ['web-extraction', { url: A }],
    ['product-offers', { intent: `compare the prices of ${A}` }],
    ['feed-digest', { intent: 'latest news headlines' }],
    ['feed-digest', { intent: 'demo', capability: 'feed-digest' }],
  ])('%s is known, refused and named', (capability, input) => {
    const only = uses.filter(({ id }) => id === 'extract-preview')
    expect(resolveJob(claimsOf(input), only)).toMatchObject({ ok: false, reason: 'not_live', capability })
  })
})

describe('sources of a job', () => {
  const job = (input: unknown) => {
    const resolution = resolve(input)
    if (!resolution.ok) throw new Error(resolution.reason)
    return {
      capability: resolution.capability,
      urls: requestedSources(resolution.claims).map(({ url }) => url),
      readFrom: resolution.readFrom,
    }
  }
  it.each<[string, unknown, string[], string[]]>([
    ['a field', { url: A }, [A], ['/url']],
    ['fields together', { url: A, sources: [{ url: B, fallbacks: [A] }] }, [A, B], ['/url', '/sources']],
    ['the words', { intent: `read the page ${A} and ${B}` }, [A, B], ['/intent']],
    [
      'words in two places',
      { intent: `read the page ${A}`, action: `and ${B}` },
      [A, B],
      ['/action', '/intent'],
    ],
    [
      'words that name a source of the fields',
      { intent: `read the page ${A}`, urls: [A, B] },
      [A, B],
      ['/urls', '/intent'],
    ],
    [
      'words that name a fallback',
      { intent: `read the page ${B}`, sources: [{ url: A, fallbacks: [B] }] },
      [A],
      ['/sources', '/intent'],
    ],
    [
      'words that spell it otherwise',
      { intent: 'read the page https://A.example.com', url: A },
      [A],
      ['/url', '/intent'],
    ],
    ['a wrapper', { input: { urls: [A] } }, [A], ['/input/urls']],
  ])('are read from %s', (_, input, urls, readFrom) => {
    expect(job(input)).toMatchObject({
      capability: 'web-extraction',
      urls,
      readFrom: expect.arrayContaining(readFrom),
    })
  })

  it('make a digest of what is spelled like a feed, and a page of anything else', () => {
    expect(job({ url: 'https://a.example.com/feed.xml' }).capability).toBe('feed-digest')
    expect(job({ urls: ['https://a.example.com/rss', A] }).capability).toBe('web-extraction')
    expect(job({ capability: 'web-extraction', url: 'https://a.example.com/feed.xml' }).capability).toBe(
      'web-extraction',
    )
    expect(job({ url: 'https://a.example.com/feedback' }).capability).toBe('web-extraction')
  })

  it('are refused where there are more than three, and every place is named', () => {
    const four = [A, B, 'https://c.example.com/', 'https://d.example.com/']
    expect(resolve({ intent: `read the pages ${four.join(' ')}` })).toMatchObject({
      reason: 'too_many_sources',
      pointers: ['/intent'],
    })
    expect(resolve({ url: four[3], urls: four.slice(0, 3), capability: 'web-extraction' })).toMatchObject({
      reason: 'too_many_sources',
      pointers: ['/url', '/urls'],
    })
  })

  it('are a conflict where the words name another', () => {
    expect(resolve({ intent: `read the page ${B}`, url: A })).toMatchObject({
      reason: 'conflict',
      pointers: ['/intent', '/url'],
    })
  })

  it('are a conflict where one has two fallbacks', () => {
    const sources = [
      { url: A, fallbacks: [B] },
      { url: A, fallbacks: ['https://c.example.com/'] },
    ]
    expect(resolve({ sources })).toMatchObject({ reason: 'conflict', pointers: ['/sources'] })
  })
})

describe('what fields say wins over what words say', () => {
  const claimOf = (input: unknown, field: 'limit' | 'query') => {
    const resolution = resolve(input)
    return resolution.ok ? resolution.claims.get(field) : resolution.reason
  }
  it.each<[string, unknown, 'limit' | 'query', unknown]>([
    ['a limit in words', { intent: 'top 5 headlines' }, 'limit', 5],
    ['a limit in a field', { intent: 'top 5 headlines', limit: 7 }, 'limit', 7],
    ['a query in words', { intent: `read ${A} about tea` }, 'query', 'tea'],
    ['a query in a field', { intent: `read ${A} about tea`, query: 'coffee' }, 'query', 'coffee'],
    [
      'a capability over a guess',
      { intent: 'headlines about tea', capability: 'web-extraction', url: A },
      'query',
      'tea',
    ],
    ['a limit where it has no use', { intent: `read the page ${A}`, limit: 7 }, 'limit', undefined],
  ])('%s', (_, input, field, value) => {
    expect(claimOf(input, field)).toBe(value)
  })

  it('names test money only where money is asked for', () => {
    expect(resolve({ url: A, testnet: true })).toMatchObject({ ok: true, testnet: true, ignored: [] })
    expect(resolve({ html: 'x', testnet: true })).toMatchObject({ ok: true, ignored: ['/testnet'] })
  })
})

describe('descriptors', () => {
  it.each(
    (['sandbox', 'production'] as const).flatMap((mode) =>
      descriptorsIn(mode).map((facts) => [facts.id, mode, facts] as const),
    ),
  )('the example of %s in %s is that job', (id, _, { example }) => {
    expect(resolve(example)).toMatchObject({ ok: true, capability: id })
  })
})

describe('words that are shown back', () => {
  it('hold no password', () => {
    const resolution = resolve({ intent: `read ${B} and https://mina:hunter2@a.example.com/` })
    expect(resolution).toMatchObject({ ok: true, words: `read ${B} and https://***@a.example.com/` })
    expect(JSON.stringify(resolution.ok && requestedSources(resolution.claims))).not.toContain('hunter2')
  })

  it('are read up to the same length in however many fields they stand', () => {
    const action = 'x '.repeat(3000)
    expect(resolve({ action, desired_action: 'latest news headlines' })).toMatchObject({ reason: 'unknown' })
    expect(resolve({ action: 'x', desired_action: 'latest news headlines' })).toMatchObject({ ok: true })
  })
})
