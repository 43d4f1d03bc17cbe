import { describe, expect, it } from 'vitest'
import { ExecuteRequest } from '../../../schemas/execute-request.ts'
import { descriptors } from '../../../src/outcomes/descriptors.ts'
import { GatewayError } from '../../../src/errors.ts'
import { createTestOutcomes, previewOf } from '../../support/outcomes.ts'

const HTML = '<p>Hello</p>'
const outcomes = createTestOutcomes()
const context = {
  caller: { kind: 'anonymous', id: 'anonymous', address: '127.0.0.1' } as const,
  signal: new AbortController().signal,
}
async function execute(input: unknown) {
  const execution = await outcomes.execute(ExecuteRequest.parse(input), context)
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
    expect(answer.cost).toEqual({
      amount_atomic: '0',
      amount: '0.000000',
      currency: 'USDC',
      decimals: 6,
      paid: false,
    })
    expect(answer.receipt).toBeNull()
  })

  it.each(['a demolition company', 'write a demo song', 'عرض الاسعار'])(
    'does not take "%s" for the demo',
    async (intent) => {
      expect((await refusalOf({ intent })).code).toMatch(/^(intent_unknown|outcome_not_live)$/)
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
    expect(result.document.links).toEqual([{ url: 'b', absolute: false, text: 'b' }])
  })

  it('resolves relative links against url without fetching it', async () => {
    const { result, intent } = await execute({ html: '<a href="/b">b</a>', url: 'https://a.example/x' })
    expect(result.document.links).toEqual([{ url: 'https://a.example/b', absolute: true, text: 'b' }])
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

describe('what does not run yet', () => {
  it.each<[string, unknown]>([
    ['web-extraction', { capability: 'web-extraction', url: 'https://a.example/' }],
    ['web-extraction', { url: 'https://a.example/' }],
    ['web-extraction', { command: 'curl https://a.example/' }],
    ['web-extraction', { http: { url: 'https://a.example/' } }],
    [
      'web-extraction',
      { operation: { url: 'https://a.example/', method: 'GET', desired_action: 'read the article' } },
    ],
    ['product-offers', { tool: 'product-offers' }],
    ['product-offers', { intent: 'compare the prices of these products' }],
    ['product-offers', { intent: 'قارن أسعار المنتجات' }],
    ['feed-digest', { intent: 'latest news headlines' }],
    ['feed-digest', { intent: 'demo', capability: 'feed-digest' }],
  ])('%s is known, refused and named', async (capability, input) => {
    const refusal = await refusalOf(input)
    expect(refusal.code).toBe('outcome_not_live')
    expect(refusal.message).toContain(capability)
    expect(refusal.message).toContain('extract-preview')
    expect(refusal.extras.repair).toMatchObject({ understood: { capability }, live: ['extract-preview'] })
  })
})

describe('repair guidance', () => {
  it.each<[string, string, unknown]>([
    ['nothing said', 'intent_unknown', {}],
    ['an unknown job', 'intent_unknown', { intent: 'sing a song' }],
    ['an unknown tool', 'intent_unknown', { tool: 'gateway.nothing', input: { html: HTML } }],
    ['html missing', 'input_missing_field', { capability: 'extract-preview' }],
    ['only an address', 'input_missing_field', { capability: 'extract-preview', url: 'https://a.example/' }],
    ['a capability that is not live', 'outcome_not_live', { capability: 'feed-digest' }],
    ['a conflict', 'input_conflict', { intent: 'demo', html: HTML }],
  ])('after %s the example works when sent back unchanged', async (_, code, input) => {
    const refusal = await refusalOf(input)
    expect(refusal.code).toBe(code)
    const repair = refusal.extras.repair as { example: unknown; nearest: string }
    expect((await execute(repair.example)).capability).toBe(repair.nearest)
  })

  it('never quotes the caller back', async () => {
    for (const input of [
      { intent: 'hunter2 hunter2' },
      { tool: 'hunter2' },
      { input: { html: { hunter2: 1 } } },
    ]) {
      const refusal = await refusalOf(input)
      expect(JSON.stringify([refusal.message, refusal.extras])).not.toContain('hunter2')
    }
  })

  it.each<[string, unknown, string, string]>([
    ['an unknown property', { input: { html: HTML, foo: 1 } }, 'input_unknown_property', '/input/foo'],
    ['a wrong type', { arguments: { html: 1 } }, 'input_wrong_type', '/arguments/html'],
    ['a missing url', { http: { method: 'GET' } }, 'input_missing_field', '/http/url'],
    ['too much html', { input: { html: 'x'.repeat(12_289) } }, 'input_invalid', '/input/html'],
    [
      'a method that writes',
      { operation: { url: 'https://a.example/', method: 'POST' } },
      'input_invalid',
      '/operation/method',
    ],
    ['an open quote', { command: "curl 'https://a.example/" }, 'input_invalid', '/command'],
    ['a curl command that writes', { command: 'curl -d x https://a.example/' }, 'input_invalid', '/command'],
    [
      'a curl command that posts without a space',
      { command: 'curl -XPOST https://a.example/' },
      'input_invalid',
      '/command',
    ],
    ['curl without a URL', { command: 'curl -s' }, 'input_invalid', '/command'],
    ['a relative address', { http: { url: '/x' } }, 'input_invalid', '/http/url'],
    ['an address that is none', { command: 'curl ::' }, 'input_invalid', '/command'],
    ['a body that is no JSON', { command: 'curl http://x/v1/execute -d {' }, 'input_invalid', '/command'],
  ])('inside a wrapper names %s', async (_, input, code, pointer) => {
    const refusal = await refusalOf(input)
    expect(refusal.code).toBe(code)
    expect(refusal.extras.fields?.[0]?.pointer).toBe(pointer)
  })

  it('takes eight wrappers and refuses the ninth', async () => {
    const wrap = (levels: number): Record<string, unknown> =>
      levels === 0 ? { html: HTML } : { input: wrap(levels - 1) }
    expect((await execute(wrap(8))).ok).toBe(true)
    expect((await refusalOf(wrap(9))).code).toBe('input_invalid')
  })
})

describe('descriptors', () => {
  it.each(descriptors.map((facts) => [facts.id, facts] as const))(
    '%s runs its own example',
    async (id, facts) => {
      expect((await execute(facts.example)).capability).toBe(id)
    },
  )

  it.each(descriptors.flatMap(({ id, phrases }) => phrases.map((phrase) => [phrase, id] as const)))(
    'understands its own phrase "%s"',
    async (phrase, id) => {
      const answered = await execute({ intent: phrase, ...(/demo/.test(phrase) ? {} : { html: HTML }) })
      expect(answered.capability).toBe(id)
    },
  )
})
