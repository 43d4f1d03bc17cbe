// The size of answers: a model reads them token by token, and its client throws one away that is too long (Claude Code: 25,000 tokens).
import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toCanonicalJson } from '../../src/lib/canonical-json.ts'
import { startTestGateway, type TestGateway } from '../support/gateway.ts'
import { at, type Json } from '../support/tree.ts'
import { tokensOf } from '../support/tokens.ts'

let gateway: TestGateway
beforeAll(async () => {
  gateway = await startTestGateway()
  gateway.upstream.respond(({ target, headers }, res) =>
    res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(target === '/long' ? LONG : JSON.stringify(target === '/echo' ? { headers } : { ok: true })),
  )
})
afterAll(() => gateway?.close())

async function post(path: string, body: object, headers: Record<string, string> = {}): Promise<Json> {
  const response = await fetch(gateway.baseUrl + path, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...body }),
  })
  return (await response.json()) as Json
}

type Ask = (name: string, input: object, meta?: object) => Promise<{ output: Json; text: string }>

const shownOf = (answer: Json) => ({
  output: at(answer, 'result', 'structuredContent') as Json,
  text: at(answer, 'result', 'content', '0', 'text') as string,
})
const legacy: Ask = async (name, input, meta = {}) =>
  shownOf(await post('/mcp', { method: 'tools/call', params: { name, arguments: input, _meta: meta } }))
const modern: Ask = async (name, input, meta = {}) =>
  shownOf(
    await post(
      '/mcp',
      {
        method: 'tools/call',
        params: {
          name,
          arguments: input,
          _meta: {
            ...meta,
            'io.modelcontextprotocol/protocolVersion': '2026-07-28',
            'io.modelcontextprotocol/clientCapabilities': {},
          },
        },
      },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': name },
    ),
  )
const a2a: Ask = async (name, input, metadata = {}) => {
  const answer = await post(
    '/a2a',
    {
      method: 'SendMessage',
      params: {
        message: {
          messageId: crypto.randomUUID(),
          role: 'ROLE_USER',
          metadata,
          parts: [{ data: { skill: name.replace('gateway.', '').replaceAll('.', '-'), input } }],
        },
      },
    },
    { 'a2a-version': '1.0' },
  )
  const part =
    at(answer, 'result', 'message', 'parts', '0') ??
    at(answer, 'result', 'task', 'artifacts', '0', 'parts', '0')
  const output = (at(part, 'data') ??
    at(answer, 'error', 'data', '0', 'value') ??
    at(answer, 'result', 'task', 'status', 'message', 'parts', '0', 'data')) as Json
  return { output, text: JSON.stringify(output) }
}

const askPreview = (ask: Ask, input: object) =>
  ask(ask === a2a ? 'gateway.extract.preview' : 'gateway_execute', input)
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex')

const MOST = 4000
/** What Claude Code takes of one answer. */
const MOST_OF_A_CLIENT = 25_000
const LONG = JSON.stringify(Array.from({ length: 12_000 }, (_, id) => ({ id, name: `row ${id}` })))
const SECRET = 'sample+secret/with=awkward&"chars"'

describe.each([
  ['MCP of 2025', legacy],
  ['MCP of 2026', modern],
  ['A2A', a2a],
])('over %s', (_door, ask) => {
  it('gives the catalogue as an index that says how to read on, and each entry of it by its id', async () => {
    const whole = (await gateway.rest('GET', '/v1/capabilities')).body
    const { output, text } = await ask('gateway.capabilities', {})
    expect(JSON.parse(text)).toEqual(output)
    expect(tokensOf(text)).toBeLessThan(1000)
    expect(output['capabilities']).toEqual(
      whole.tools.map(({ id, name, when_to_use, pricing }: Json) => ({
        id,
        name,
        price: at(pricing, 'amount_atomic') === '0' ? 'free' : `${at(pricing, 'amount')} USDC`,
        when_to_use,
      })),
    )
    expect(output['details']).toContain('"id"')
    const name = ask === a2a ? 'capabilities-get' : 'gateway_capabilities_get'
    expect(output['details'], 'as the connection writes it').toContain(name)
    for (const { id, example, limitations } of whole.tools) {
      const one = await ask('gateway.capabilities', { id })
      expect(tokensOf(one.text), id).toBeLessThan(MOST)
      expect(one.output).toMatchObject({ id, example, limitations })
      expect(Object.keys(one.output['answer'] as object)).not.toEqual([])
    }
  })

  it.each([
    ['gateway.capabilities', 'id'],
    ['gateway.egress.providers', 'provider'],
    ['gateway.protocols', 'tool'],
    ['gateway.test.schema', 'protocol'],
  ])('%s answers null for `%s`, as strict models write it, like nothing', async (name, member) => {
    const brief = await ask(name, {})
    expect(await ask(name, { [member]: null })).toEqual(brief)
    expect(tokensOf(brief.text)).toBeLessThan(MOST)
  })

  it('gives a document once, as Markdown, and in the other form or in both to who asks', async () => {
    const html =
      '<article><h1>Tea</h1><p>Green tea is steeped for <b>three</b> minutes at eighty degrees.</p></article>'
    const input = { capability: 'extract-preview', html }
    const has = async (more: object) => {
      const { output } = await askPreview(ask, { ...input, ...more })
      const document = at(output, 'result', 'document') as Json
      const { result_sha256, text_sha256 } = output['verification'] as {
        result_sha256: string
        text_sha256: string
      }
      expect(result_sha256).toBe(sha256(toCanonicalJson(output['result'])))
      return { text: document['text'], markdown: document['markdown'], text_sha256 }
    }
    const both = await has({ format: 'both' })
    expect([both.text, both.markdown]).toEqual([
      expect.stringContaining('steeped'),
      expect.stringContaining('# Tea'),
    ])
    expect(both.text_sha256).toBe(sha256(both.text as string))
    expect(await has({})).toEqual({ ...both, text: undefined })
    expect(await has({ format: 'markdown' })).toEqual({ ...both, text: undefined })
    expect(await has({ format: 'text' })).toEqual({ ...both, markdown: undefined })
    const wrapped = await askPreview(ask, { input: { ...input, format: 'text' } })
    expect(at(wrapped.output, 'result', 'document', 'markdown')).toBeUndefined()
    const sample = await askPreview(ask, { intent: 'demo', format: 'text' })
    expect(at(sample.output, 'intent', 'ignored')).toEqual([])
    expect(at(sample.output, 'result', 'document', 'markdown')).toBeUndefined()
    expect(at(sample.output, 'result', 'document', 'text')).toBeTypeOf('string')
  })

  it('names a receipt by its id and URL, and gives its signature to who asks', async () => {
    const { capability } = await gateway.grant({ secret: SECRET })
    const input = { capability, method: 'GET', url: gateway.url('/') }
    const { output, text } = await ask('gateway.egress.fetch', input)
    expect(JSON.parse(text)).toEqual(output)
    expect(output['receipt']).toEqual({ receipt_id: expect.stringMatching(/^rcp_/), url: expect.any(String) })
    const full = await ask('gateway.egress.fetch', input, { 'agent-gateway/receipts': 'full' })
    expect(full.output['receipt']).toMatchObject({ jws: expect.stringMatching(/^eyJ/) })
    const read = await ask('gateway.receipts.get', { receipt_id: at(output, 'receipt', 'receipt_id') })
    expect(read.output).toMatchObject({ jws: expect.stringMatching(/^eyJ/) })
    expect(
      (await gateway.fetch(capability, { method: 'GET', url: gateway.url('/') })).body.receipt.jws,
    ).toMatch(/^eyJ/)
  })

  it('gives a long answer in parts under an idempotency key: one request, one credit, and nothing is lost', async () => {
    const { capability } = await gateway.grant()
    const key = crypto.randomUUID()
    const input = { capability, method: 'POST', url: gateway.url('/long'), idempotency_key: key }
    const before = gateway.upstream.requests.length
    const balance = await gateway.balance()
    let body = ''
    let next: number | undefined = 0
    while (next !== undefined) {
      const { output, text } = await ask('gateway.egress.fetch', {
        ...input,
        ...(next > 0 && { answer_from: next }),
      })
      expect(tokensOf(text)).toBeLessThan(MOST_OF_A_CLIENT)
      const left = output['left_out'] as { places: Json[]; next?: number; read_on?: string }
      expect(left.places).toMatchObject([{ at: '/upstream/body', from: next, of: LONG.length }])
      if (left.next !== undefined) expect(left.read_on).toContain(`"answer_from": ${left.next}`)
      body += at(output, 'upstream', 'body') as string
      next = left.next
    }
    expect(body).toBe(LONG)
    expect(gateway.upstream.requests).toHaveLength(before + 1)
    expect(await gateway.balance()).toBe(balance - 1)
  })

  it('gives it whole to who asks for that, and where it could not be read on without doing something again', async () => {
    const { capability } = await gateway.grant()
    const read = { capability, url: gateway.url('/long') }
    const whole = (output: Json) => {
      expect(output).not.toHaveProperty('left_out')
      expect(at(output, 'upstream', 'body')).toBe(LONG)
    }
    whole((await ask('gateway.egress.fetch', read, { 'agent-gateway/answers': 'full' })).output)
    whole((await ask('gateway.egress.fetch', { ...read, method: 'POST' })).output)
    const { output } = await ask('gateway.egress.fetch', read)
    expect(at(output, 'left_out', 'read_on')).toContain('another request, for 1 credit')
    const { capability: _argument, ...overRest } = read
    whole((await gateway.fetch(capability, { ...overRest, method: 'GET' })).body)
  })

  it('does so in a refusal, too', async () => {
    const { capability } = await gateway.grant({ secret: SECRET })
    const input = { capability, method: 'GET', url: gateway.url('/echo') }
    const { output } = await ask('gateway.egress.fetch', input)
    expect(output).toMatchObject({ code: 'secret_reflected' })
    expect(output['receipt']).toEqual({ receipt_id: expect.stringMatching(/^rcp_/), url: expect.any(String) })
    const full = await ask('gateway.egress.fetch', input, { 'agent-gateway/receipts': 'full' })
    expect(full.output['receipt']).toMatchObject({ jws: expect.stringMatching(/^eyJ/) })
  })
})

describe('a 402 tells who reads it alone what it costs, how it is paid and what to do without a wallet', () => {
  const input = { url: 'https://example.com/' }
  const COST =
    'Payment required: this call costs 0.001 USD (1000 atomic units of USDC) on Base (eip155:8453, test money). Nothing was done and ' +
    'nothing was charged.'
  const WALLET = 'Without a wallet: this is a sandbox, and its test payer pays.'

  it.each([
    ['2025', legacy],
    ['2026', modern],
  ])('over MCP of %s in the first words of the PaymentRequired', async (_era, ask) => {
    const { output, text } = await ask('gateway.web.fetch', input)
    expect(text).toBe(JSON.stringify(output))
    expect(Object.keys(output).slice(0, 2)).toEqual(['x402Version', 'error'])
    expect(output['error']).toMatch(/^Payment required: .*_meta\["x402\/payment"\]/)
    expect(output['error']).toContain(COST)
    expect(output['error']).toContain(WALLET)
  })

  it('over A2A in the words beside the challenge', async () => {
    const message = {
      messageId: crypto.randomUUID(),
      role: 'ROLE_USER',
      parts: [{ data: { skill: 'web-fetch', input } }],
    }
    const answer = await post(
      '/a2a',
      { method: 'SendMessage', params: { message } },
      { 'a2a-version': '1.0' },
    )
    const said = at(answer, 'result', 'task', 'status', 'message')
    const words = at(said, 'parts', '0', 'text')
    expect(words).toContain(COST)
    expect(words).toContain('"x402.payment.status": "payment-submitted"')
    expect(words).toContain(WALLET)
    expect(at(said, 'metadata', 'x402.payment.required', 'error')).toContain(COST)
  })

  it('over REST as the detail of the problem', async () => {
    const { body, headers } = await gateway.rest('POST', '/v1/tools/web.fetch', input)
    expect(body).toMatchObject({ code: 'payment_required', error: 'Payment required' })
    expect(body.detail).toContain(COST)
    expect(body.detail).toContain('in the header Payment-Signature')
    expect(body.detail).toContain(WALLET)
    const required = Buffer.from(headers.get('payment-required') ?? '', 'base64').toString()
    expect(JSON.parse(required)).toMatchObject({ x402Version: 2, error: 'Payment required' })
  })
})

it('says how what is given in brief is had whole, and gives it then', async () => {
  const providers = await legacy('gateway.egress.providers', {})
  expect(providers.output['details']).toContain('"provider"')
  const { output: one } = await legacy('gateway.egress.providers', { provider: 'openai' })
  expect(one).toEqual((await gateway.rest('GET', '/v1/egress/providers?provider=openai')).body)
  expect(at(one, 'providers', '0', 'denied_paths')).not.toEqual([])

  const manifest = await legacy('gateway.protocols', {})
  expect(manifest.output['details']).toContain('"tool"')
  const { output: ways } = await legacy('gateway.protocols', { tool: 'gateway_web_fetch' })
  expect(ways).toEqual((await gateway.rest('GET', '/v1/protocols?tool=gateway_web_fetch')).body)

  const brief = await legacy('gateway.discovery.resources', { limit: 3 })
  expect(brief.output['details']).toContain('"full"')
  const { output: full } = await legacy('gateway.discovery.resources', { limit: 3, full: true })
  const { body } = await gateway.rest('GET', '/discovery/resources?limit=3')
  expect(full['items']).toEqual(body.items)
  expect(at(brief.output, 'items', '0')).toMatchObject({ resource: body.items[0].resource, own: true })

  const rules = await legacy('gateway.test.schema', {})
  expect(rules.output['details']).toContain('"protocol"')
  for (const protocol of Object.keys(rules.output['checks'] as object)) {
    const { output, text } = await legacy('gateway.test.schema', { protocol })
    expect(output['checks']).toHaveLength(at(rules.output, 'checks', protocol) as number)
    expect(tokensOf(text), protocol).toBeLessThan(MOST)
  }
})

it.each(['gateway.inspect', 'gateway.test'])('%s answers a large message in few tokens', async (name) => {
  const items = Array.from({ length: 3000 }, (_, row) => ({
    id: `i${row}`,
    price: row,
    note: `https://a.example/${row}`,
  }))
  const body = JSON.stringify({ currency: 'usd', line_items: items })
  const target = 'https://example.com/checkout_sessions'
  const { text } = await legacy(name, {
    target,
    method: 'POST',
    headers: { 'API-Version': '2026-04-17' },
    body,
  })
  expect(text).toContain('"protocol":"acp"')
  expect(tokensOf(text)).toBeLessThan(MOST)
})

it('gives documents over REST as text and as Markdown, unless one of them is chosen', async () => {
  const input = {
    capability: 'extract-preview',
    html: '<article><p>Green tea is steeped for three minutes.</p></article>',
  }
  const namesOf = async (more: object) => {
    const { body } = await gateway.rest('POST', '/v1/execute', { ...input, ...more })
    return Object.keys(body.result.document).filter((name) => name === 'text' || name === 'markdown')
  }
  expect(await namesOf({})).toEqual(['text', 'markdown'])
  expect(await namesOf({ format: 'markdown' })).toEqual(['markdown'])
  expect(await namesOf({ format: 'text' })).toEqual(['text'])
})

it('keeps the shape of the catalogue over REST, whole and narrowed to one id', async () => {
  const whole = (await gateway.rest('GET', '/v1/capabilities')).body
  const { body } = await gateway.rest('GET', '/v1/capabilities?id=feed-digest')
  expect(Object.keys(body)).toEqual(Object.keys(whole))
  expect(body).toEqual({
    ...whole,
    capabilities: whole.capabilities.filter(({ id }: Json) => id === 'feed-digest'),
    tools: whole.tools.filter(({ id }: Json) => id === 'feed-digest'),
  })
  expect((await gateway.rest('GET', '/v1/capabilities?id=none')).body.code).toBe('not_found')
})
