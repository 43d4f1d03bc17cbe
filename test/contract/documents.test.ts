// The generated documents against the field tables of the specification, field by field.
import { describe, expect, it } from 'vitest'
import { Capability, Catalogue } from '../../schemas/catalogue.ts'
import { createDocuments } from '../../src/documents/index.ts'
import { agentText } from '../../src/documents/agent-text.ts'
import { llmsText } from '../../src/documents/texts.ts'
import { llmsFullText, toolsetText } from '../../src/documents/toolset-texts.ts'
import { TOOLSETS } from '../../src/core/tool.ts'
import { namesOf } from '../support/tool-words.ts'
import { routeName } from '../../src/core/tool-words.ts'
import { priceWords } from '../../src/documents/protocols.ts'
import { createProviders } from '../../src/egress/providers/index.ts'
import { ERRORS } from '../../src/core/errors.ts'
import { ExecuteRequest } from '../../schemas/execute-request.ts'
import { descriptors, descriptorsIn } from '../../src/outcomes/descriptors.ts'
import { createRegistry } from '../../src/core/registry.ts'
import { tools } from '../../tools/index.ts'
import { at, keysAt } from '../support/tree.ts'

const baseUrl = 'https://gateway.example'
const addresses = { baseUrl, siteUrl: 'https://site.example', mcpUrl: 'https://mcp.example/mcp' }
const registry = createRegistry(tools)
const parts = {
  registry,
  addresses,
  config: { serviceKeyCredits: 100 },
  capabilities: descriptors,
  providers: createProviders().list(),
}
const documents = createDocuments(parts)
const catalogue = documents.catalogue()

const DESCRIPTOR_FIELDS = [
  'id',
  'name',
  'description',
  'when_to_use',
  'input_schema',
  'output_schema',
  'pricing',
  'availability',
  'execute_url',
  'protocols',
  'expected_latency_ms',
  'latency_note',
  'limitations',
  'example',
  'url',
  'schema_url',
  'mappings',
]

describe('the catalogue', () => {
  it('has the fields of the table at its top, and no other', () => {
    expect(Object.keys(catalogue)).toEqual([
      'name',
      'version',
      'product',
      'capabilities',
      'tools',
      'execute_url',
      'first_result',
      'discovery',
      'compatibility',
      'no_account',
      'payment_requires_funded_payer',
    ])
    expect(catalogue).toMatchObject({
      version: '5.1.0',
      execute_url: `${baseUrl}/v1/execute`,
      first_result: { method: 'POST', url: `${baseUrl}/v1/execute`, expected_status: 200, price: 'free' },
      no_account: true,
      payment_requires_funded_payer: true,
    })
    expect(keysAt(catalogue, 'first_result')).toEqual(['method', 'url', 'body', 'expected_status', 'price'])
    expect(keysAt(catalogue, 'discovery')).toEqual([
      'capabilities',
      'agent_instructions',
      'mcp',
      'a2a',
      'openapi',
      'interactive_try',
      'skills',
    ])
    expect(keysAt(catalogue, 'compatibility')).toEqual([
      'paid_web_fetch',
      'scoped_vendor_actions',
      'operator_pricing',
    ])
  })

  it('fits the schema that MCP and OpenAPI publish for it', () => {
    expect(Catalogue.strict().parse(catalogue)).toEqual(catalogue)
  })

  it('lists in `tools` the same descriptors with available, paid and endpoint', () => {
    const listed = catalogue['tools'] as Record<string, unknown>[]
    expect(listed.map(({ id }) => id)).toEqual([...descriptors.map(({ id }) => id), 'gateway.web.fetch'])
    for (const { available, paid, endpoint, ...descriptor } of listed) {
      expect({ available, endpoint }).toEqual({ available: true, endpoint: descriptor['execute_url'] })
      expect(Object.keys(descriptor)).toEqual(DESCRIPTOR_FIELDS)
      expect(descriptor).toEqual(documents.capability(String(descriptor['id'])))
      expect(paid).toBe(at(descriptor, 'pricing', 'amount_atomic') !== '0')
    }
  })

  it('has web fetch among the tools, paid, at its own address', () => {
    const entry = (catalogue['tools'] as Record<string, unknown>[]).at(-1)!
    expect(entry).toMatchObject({
      id: 'gateway.web.fetch',
      available: true,
      paid: true,
      endpoint: `${baseUrl}/v1/tools/web.fetch`,
      availability: 'live',
      execute_url: `${baseUrl}/v1/tools/web.fetch`,
      pricing: { amount_atomic: '1000', amount: '0.001000', quote_expires_seconds: 300 },
      url: 'https://site.example/capabilities/gateway.web.fetch',
      schema_url: `${baseUrl}/v1/capabilities/gateway.web.fetch`,
      mappings: {
        mcp: { endpoint: 'https://mcp.example/mcp', tool: 'gateway.web.fetch' },
        a2a: { endpoint: `${baseUrl}/a2a`, skill: 'web-fetch' },
        openapi: { url: `${baseUrl}/openapi.json`, operationId: 'webFetch' },
      },
    })
    expect(at(catalogue, 'compatibility', 'paid_web_fetch')).toBe(`${baseUrl}/v1/tools/web.fetch`)
  })

  it('says of what is paid that it is not available where nobody can be paid', () => {
    const unpaid = createDocuments({ ...parts, isPayable: false }).catalogue()
    const available = (unpaid['tools'] as Record<string, unknown>[]).map((tool) => [
      tool['id'],
      tool['available'],
    ])
    expect(Object.fromEntries(available)).toEqual({
      'extract-preview': true,
      'web-extraction': false,
      'product-offers': false,
      'feed-digest': false,
      'gateway.web.fetch': false,
    })
  })
})

describe('examples', () => {
  const production = { creditPriceAtomic: 1000n, mode: 'production' } as const
  const executeIn = (config?: typeof production) =>
    createRegistry(tools, config).find('gateway_execute')!.tool

  it('name the sample site in a sandbox, and never where it does not exist', () => {
    expect(JSON.stringify(executeIn().examples)).toContain('sandbox.agent-gateway.test')
    const { examples, sold } = executeIn(production)
    expect(JSON.stringify([examples, sold!.map(({ input }) => input)])).not.toContain('.test/')
    const listed = createDocuments({ ...parts, capabilities: descriptorsIn('production') }).catalogue()
    expect(JSON.stringify(listed)).not.toContain('sandbox.agent-gateway.test')
    expect(JSON.stringify(catalogue)).toContain('sandbox.agent-gateway.test')
  })

  it('fit the input in both modes, one for each capability, and what is sold names its capability and price', () => {
    for (const { examples, sold = [] } of [executeIn(), executeIn(production)]) {
      for (const { input } of examples) expect(ExecuteRequest.parse(input)).toMatchObject(input as object)
      expect(examples.flatMap(({ input }) => (input as { capability?: string }).capability ?? [])).toEqual(
        descriptors.map(({ id }) => id),
      )
      const prices = sold.map(({ input, amountAtomic }) => [input['capability'], amountAtomic.toString()])
      expect(Object.fromEntries(prices)).toEqual({
        'web-extraction': '3000',
        'product-offers': '6000',
        'feed-digest': '2000',
      })
      // A demo is free: nobody is asked to pay for it.
      for (const { input } of sold) expect(ExecuteRequest.parse(input).intent).toBeUndefined()
    }
  })

  it('stand beside words without a price: prices are derived from the descriptors alone', () => {
    for (const facts of descriptors) {
      const words = [
        facts.description,
        facts.when_to_use,
        facts.delivered,
        ...facts.limitations,
        ...facts.phrases,
      ]
      expect(words.join(' ')).not.toMatch(/USDC|\d\.\d{3}|\$\s?\d/)
    }
    const { summary, price } = executeIn()
    expect(summary).not.toMatch(/USDC|\d\.\d{3}/)
    expect(price).toMatchObject({ kind: 'x402', amountAtomic: 2000n, upToAtomic: 6000n })
    expect(price).toHaveProperty('mayBeFree', expect.stringContaining('extract-preview'))
  })
})

const PRICES = {
  'extract-preview': ['0', '0.000000'],
  'web-extraction': ['3000', '0.003000'],
  'product-offers': ['6000', '0.006000'],
  'feed-digest': ['2000', '0.002000'],
} as const

describe.each(descriptors)('capability $id', ({ id }) => {
  const descriptor = documents.capability(id)

  it('has every field of the descriptor table, and no other', () => {
    expect(Object.keys(descriptor)).toEqual(DESCRIPTOR_FIELDS)
    expect(Capability.strict().parse(descriptor)).toEqual(descriptor)
    expect(descriptor).toMatchObject({
      availability: 'live',
      protocols: ['http', 'mcp', 'a2a'],
      expected_latency_ms: null,
      execute_url: `${baseUrl}/v1/execute`,
      url: `https://site.example/capabilities/${id}`,
      schema_url: `${baseUrl}/v1/capabilities/${id}`,
      mappings: {
        mcp: { endpoint: 'https://mcp.example/mcp', tool: 'gateway_execute' },
        a2a: { endpoint: `${baseUrl}/a2a`, skill: id },
        openapi: { url: `${baseUrl}/openapi.json`, operationId: 'gatewayExecute' },
      },
    })
    expect(String(descriptor['latency_note'])).toMatch(/time-outs apply.*no SLA/i)
    expect(descriptor['limitations']).not.toEqual([])
  })

  it('describes the answers of this capability and of no other', () => {
    const { properties, required } = descriptor['output_schema'] as Record<string, Record<string, unknown>>
    const fields = ['ok', 'intent', 'capability', 'result', 'verification', 'cost', 'receipt']
    expect(Object.keys(properties!)).toEqual(fields)
    expect(required).toEqual(fields)
    expect(properties).toMatchObject({
      ok: { const: true },
      intent: { properties: { kind: {}, capability: { const: id }, request: {} } },
      capability: { const: id },
      result: { type: 'object', properties: { sample: {}, coverage: {} } },
    })
  })

  it('is priced as the specification says', () => {
    const [amountAtomic, amount] = PRICES[id]
    const paid = amountAtomic !== '0'
    const { delivered, payment, ...price } = descriptor['pricing'] as Record<string, unknown>
    expect(price).toEqual({
      amount_atomic: amountAtomic,
      amount,
      currency: 'USDC',
      decimals: 6,
      unit: 'bounded execution',
      exact: true,
      includes_fallback: true,
      quote_expires_seconds: paid ? 300 : null,
    })
    expect(delivered).toBeTypeOf('string')
    expect(payment).toEqual(paid ? expect.stringMatching(/x402 v2/) : null)
  })
})

it('an unknown capability is not found, and the known ones are named', () => {
  expect(() => documents.capability('nothing')).toThrow(/extract-preview/)
})

it('a gateway without gateway_execute and web fetch has an empty catalogue', () => {
  const empty = createDocuments({
    registry: createRegistry(
      tools.filter(({ name }) => name !== 'gateway_execute' && name !== 'gateway.web.fetch'),
    ),
    addresses,
    config: { serviceKeyCredits: 1 },
    capabilities: descriptors,
    providers: [],
  })
  expect(empty.catalogue()).toMatchObject({ capabilities: [], tools: [] })
  expect(at(empty.catalogue(), 'compatibility', 'paid_web_fetch')).toBeNull()
})

describe('the egress manifest', () => {
  const manifest = documents.egressManifest()

  it('has the fields of the table, and no other', () => {
    expect(Object.keys(manifest)).toEqual([
      'name',
      'version',
      'role',
      'guarantee',
      'credentials',
      'list_credentials',
      'capabilities',
      'fetch',
      'providers',
      'public_key',
      'credits_per_authorized_egress_attempt',
      'providers_supported',
      'controls',
      'boundary',
    ])
    expect(manifest).toMatchObject({
      version: '1.0.0',
      credentials: `${baseUrl}/v1/egress/credentials`,
      list_credentials: `${baseUrl}/v1/egress/credentials`,
      capabilities: `${baseUrl}/v1/egress/capabilities`,
      fetch: `${baseUrl}/v1/egress/fetch`,
      providers: `${baseUrl}/v1/egress/providers`,
      public_key: `${baseUrl}/.well-known/gateway-egress-key.json`,
      credits_per_authorized_egress_attempt: 1,
      providers_supported: createProviders()
        .list()
        .map(({ id }) => id),
    })
    for (const control of manifest['controls'] as unknown[]) expect(control).toBeTypeOf('string')
  })

  it('describes the nine providers of the specification first, each with host, header and scheme', () => {
    const listed = documents.egressProviders()['providers'] as Record<string, unknown>[]
    expect(listed.slice(0, 9).map(({ id }) => id)).toEqual(
      'openai anthropic github stripe slack notion cloudflare mistral custom'.split(' '),
    )
    expect(listed.length).toBeGreaterThanOrEqual(40)
    for (const provider of listed)
      expect(provider).toEqual(
        expect.objectContaining({
          header: expect.any(String),
          scheme: expect.any(String),
          example: expect.any(Object),
        }),
      )
  })

  it('says the free credits that are configured', () => {
    expect(documents.egressPricing()).toMatchObject({
      credits_per_authorized_egress_attempt: 1,
      free_credits_per_account: 100,
    })
  })
})

describe('agent.txt', () => {
  const text = agentText(registry, addresses)

  it('has a line a toolset, with its page and the tools of agents as HTTP knows them, and every error code', () => {
    for (const toolset of TOOLSETS)
      expect(text).toMatch(new RegExp(`^${toolset} /llms/${toolset}\\.txt \\| `, 'm'))
    for (const entry of registry.tools) {
      const { caller, price, toolset } = entry.tool
      if (['operator', 'admin', 'seller'].includes(caller)) continue
      const line = new RegExp(`^${toolset} /llms/.*$`, 'm').exec(text)?.[0]
      const words = priceWords(price) === 'free' ? '' : ` ${priceWords(price)}`
      expect(line).toContain(`${routeName(entry)}${words}`)
    }
    for (const code of Object.keys(ERRORS)) expect(text).toMatch(new RegExp(`\\b${code}\\b`))
  })

  it('names no tool as another door knows it, but for one example', () => {
    expect(namesOf(['dotted', 'portable'], text)).toEqual(['gateway_web_fetch'])
  })

  it('says how to pay: headers, tools, and what never to do twice', () => {
    for (const word of [
      'Payment-Required',
      'Payment-Signature',
      'X-Gateway-Quote',
      'X-PAYMENT',
      '/v1/pricing',
    ])
      expect(text).toContain(word)
    const paid = registry.tools.filter(({ tool }) => tool.price.kind === 'x402').map(routeName)
    expect(paid).toEqual(
      expect.arrayContaining(['POST /v1/execute', 'POST /v1/tools/web.fetch', 'POST /v1/credits/purchase']),
    )
    expect(text).toContain(`the payer must be funded: ${paid.join(', ')}.`)
    expect(text).toMatch(/do not pay again: first GET payment_url/)
    const jobs = ['extract-preview free', 'web-extraction 0.003000 USDC', 'product-offers 0.006000 USDC']
    expect(text).toContain(`POST /v1/execute capabilities: ${jobs.join(', ')}, feed-digest 0.002000 USDC`)
  })

  it('says the address once where it is long, and is short enough to paste', () => {
    const origin = 'https://agent-gateway.platform.a-long-company-name.example'
    const addressed = agentText(registry, { baseUrl: origin, siteUrl: origin, mcpUrl: `${origin}/mcp` })
    expect(addressed).toContain(`Base URL: ${origin}\n`)
    expect(Buffer.byteLength(addressed)).toBeLessThan(8192)
  })

  it.each([[30], [80], [300]])('stays short enough to paste with %i tools more', (count) => {
    const [first] = tools
    if (!first) throw new Error('there is no tool')
    const more = Array.from({ length: count }, (_, at) => ({
      ...first,
      name: `gateway.more.number_${at}`,
      rest: [{ method: 'POST', path: `/v1/more/${at}`, operationId: `more${at}` }] as const,
      skills: [],
      doors: ['rest' as const],
    }))
    const text = agentText(createRegistry([...tools, ...more]), addresses)
    expect(Buffer.byteLength(text)).toBeLessThan(8192)
    // Whatever it leaves out is one address away, and how to begin and to pay is always there.
    for (const words of [
      '/v1/protocols',
      '/llms/web.txt',
      '/v1/execute',
      'Payment-Signature',
      'rate_limited',
    ])
      expect(text).toContain(words)
  })
})

describe('the pages of the toolsets', () => {
  const full = llmsFullText(registry, addresses)

  it('name every tool as each of its doors knows it, with its price, and every member of its input', () => {
    for (const { tool, portableName, inputSchema } of registry.tools) {
      const http = `HTTP: ${tool.rest.map(({ method, path }) => `${method} ${path}`).join(', ')}`
      const [block, ...others] = full
        .split('### ')
        .filter((part) => part.includes(`\n${http} `) || part.includes(`\n${http}\n`))
      expect(others, tool.name).toEqual([])
      expect(block).toContain(`${tool.title}\n`)
      if (tool.doors.includes('mcp')) expect(block).toContain(` | MCP: ${portableName}`)
      if (tool.doors.includes('a2a'))
        expect(block).toContain(` | A2A: ${tool.skills.map(({ id }) => id).join(', ')}\n`)
      for (const name of Object.keys(inputSchema['properties'] ?? {}))
        expect(block).toMatch(new RegExp(`^- ${name}\\b`, 'm'))
    }
  })

  it('say together what the full text says', () => {
    for (const toolset of TOOLSETS) {
      const page = toolsetText(registry, addresses, toolset)
      expect(full).toContain(page.slice(page.indexOf('## ')).trim())
    }
  })

  it('are listed in llms.txt', () => {
    const text = llmsText(registry, addresses, [])
    for (const toolset of TOOLSETS) expect(text).toContain(`(${addresses.baseUrl}/llms/${toolset}.txt)`)
    expect(text).toContain(`(${addresses.baseUrl}/llms-full.txt)`)
  })
})
