// A price is said once, by the registry: in no summary, and in every generated text the one that is configured.
import { describe, expect, it } from 'vitest'
import { WEB_FETCH } from '../../../schemas/web-fetch.ts'
import { loadConfig } from '../../../src/app/config.ts'
import { openApiOf } from '../../../src/documents/openapi.ts'
import { protocolManifest } from '../../../src/documents/protocols.ts'
import { agentText } from '../../../src/documents/agent-text.ts'
import { createCatalogue } from '../../../src/doors/mcp/catalogue.ts'
import { createRegistry } from '../../../src/core/registry.ts'
import { DEFAULT_ECONOMICS } from '../../../src/webfetch/economics.ts'
import { execute } from '../../../tools/execute.ts'
import { tools } from '../../../tools/index.ts'
import { at } from '../../support/tree.ts'

const baseUrl = 'http://127.0.0.1:8402'
const addresses = { baseUrl, siteUrl: baseUrl, mcpUrl: `${baseUrl}/mcp` }
const registry = createRegistry(tools)
const describedBy = (registered: typeof registry) =>
  createCatalogue(registered, addresses, { tools: [], capabilities: {} }).tools({
    spelling: 'dotted',
    audience: 'admin',
    selection: undefined,
  })

describe('a price', () => {
  it.each(tools.map((tool) => [tool.name, tool] as const))('of %s is in no text of its file', (_, tool) => {
    const texts = [tool.summary, ...tool.skills.map(({ description = '' }) => description)]
    const { inputSchema } = registry.find(tool.name)!
    expect([...texts, JSON.stringify(inputSchema)].join('\n')).not.toMatch(/\b0\.\d+ USDC/)
  })

  it('stands once in the description of a paid tool over MCP', () => {
    const paid = describedBy(registry).filter(({ description }) => description.includes('Costs money'))
    // The jobs of execute have prices of their own.
    const sold = tools.filter(({ name, price }) => price.kind === 'x402' && name !== execute.name)
    expect(paid.map(({ name }) => name)).toEqual(sold.map(({ name }) => name))
    expect(paid.map(({ name }) => name)).toEqual(
      expect.arrayContaining([WEB_FETCH, 'gateway.credits.purchase']),
    )
    for (const { description } of paid) expect(description.match(/\bUSDC a call\b/g)).toHaveLength(1)
  })

  it('of a fetch is the one that its economics start from', () => {
    expect(registry.find(WEB_FETCH)?.tool.price).toMatchObject({
      kind: 'x402',
      amountAtomic: DEFAULT_ECONOMICS.customerPriceUsdMicros,
    })
  })

  it('of credits is the configured one wherever it is said', () => {
    const configured = createRegistry(tools, loadConfig({ GATEWAY_CREDIT_PRICE_ATOMIC: '2500', PATH: '' }))
    const purchase = describedBy(configured).find(({ name }) => name === 'gateway.credits.purchase')
    expect(purchase?.description).toContain('0.250000 USDC')
    expect(agentText(configured, addresses)).toContain('/v1/credits/purchase 0.250000 USDC')
    expect(JSON.stringify(protocolManifest(configured, addresses))).toContain('"0.250000 USDC"')
    expect(
      at(openApiOf(configured, addresses), 'paths', '/v1/credits/purchase', 'post', 'description'),
    ).toContain('0.250000 USDC')
    expect(agentText(registry, addresses)).toContain('/v1/credits/purchase 0.100000 USDC')
  })

  it('of a marketplace call is that of its listing, and no figure', () => {
    const call = describedBy(registry).find(({ name }) => name === 'gateway.marketplace.call')
    expect(call?.description).toContain('Costs money: the price of its listing, in USDC a call')
    expect(call?.description).not.toMatch(/\d USDC/)
    expect(agentText(registry, addresses)).toContain(
      'POST /v1/marketplace/call the price of its listing, in USDC;',
    )
  })

  it('of settling is not called free without its allowance', () => {
    const settle = describedBy(registry).find(({ name }) => name === 'gateway.facilitator.settle')
    expect(settle?.description).toMatch(/Free up to an allowance, then 1 credit a call\.$/)
    expect(agentText(registry, addresses)).toContain('POST /settle free up to an allowance, then 1 credit;')
  })

  it.each(['gateway.capabilities', 'gateway.preflight', 'gateway.pricing.quote'])(
    'of %s, which the pricing document calls free, is free',
    (name) => {
      expect(registry.find(name)?.tool.price).toEqual({ kind: 'free' })
    },
  )
})
