import { describe, expect, it } from 'vitest'
import { createNetworks } from '../../../src/core/networks.ts'
import { signPaymentReceipt, withoutQuery } from '../../../src/payments/receipt.ts'
import type { Environment, Signer } from '../../../src/receipts/ports.ts'
import type { PaymentClaim } from '../../../src/store/ports.ts'

it.each([
  ['https://shop.example/report?user=7#top', 'shop.example/report'],
  ['https://user:secret@shop.example:8443/a', 'shop.example:8443/a'],
  ['mcp://tool/gateway.web.fetch?key=1', 'tool/gateway.web.fetch'],
  ['urn:agent-gateway:gateway.web.fetch?key=1', 'urn:agent-gateway:gateway.web.fetch'],
  ['/relative/path?key=1', '/relative/path'],
  ['not a url#x', 'not a url'],
  ['', ''],
])('a receipt names %s as %s', (resource, named) => {
  expect(withoutQuery(resource)).toBe(named)
})

describe('the receipt of a payment', () => {
  const claim = {
    id: 'clm_1',
    network: 'eip155:8453',
    resource: 'mcp://tool/x',
    purchase: null,
    accountId: null,
  } as unknown as PaymentClaim
  const revenueOf = (environment: Environment, network = 'eip155:8453') => {
    let said: Readonly<Record<string, unknown>> = {}
    const signer: Signer = { kid: 'k', environment, sign: (_typ, payload) => ((said = payload), 'jws') }
    const parts = {
      signer,
      networks: createNetworks([8453, 84532]),
      baseUrl: 'https://gw.example',
      now: () => 0,
    }
    signPaymentReceipt(parts, { ...claim, network }, { transaction: '0x1', upstream: 'local' })
    return said['revenue']
  }

  it('speaks of revenue where money is real, and nowhere else', () => {
    expect(revenueOf('production')).toBe(true)
    expect(revenueOf('production', 'eip155:84532')).toBe(false)
    expect(revenueOf('production', 'eip155:1')).toBe(false)
    expect(revenueOf('sandbox')).toBe(false)
  })
})
