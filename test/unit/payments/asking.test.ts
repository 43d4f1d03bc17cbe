import { describe, expect, it } from 'vitest'
import { KNOWN_NETWORKS } from '../../../src/core/networks.ts'
import { askingOf } from '../../../src/payments/asking.ts'

const [base, sepolia] = KNOWN_NETWORKS
if (!base || !sepolia) throw new Error('two networks are known')
const call = (amountAtomic: bigint, url = 'mcp://tool/gateway.web.fetch') => ({
  terms: { amountAtomic, networks: [], requestDigest: '' },
  resource: { url, method: 'POST' },
})

describe('the words of a 402', () => {
  it.each([
    [1n, '0.000001 USD'],
    [3000n, '0.003 USD'],
    [100_000n, '0.10 USD'],
    [1_000_000n, '1.00 USD'],
    [12_345_678n, '12.345678 USD'],
  ])('write %s atomic units as %s', (amount, words) => {
    expect(askingOf(call(amount), [base], false).cost).toContain(`costs ${words} (${amount} atomic units`)
  })

  it('say on which networks, and which of them take test money', () => {
    expect(askingOf(call(1000n), [base, sepolia], false).cost).toContain(
      'on Base (eip155:8453) or Base Sepolia (eip155:84532, test money).',
    )
    expect(askingOf(call(1000n), [base], true).cost).toContain('on Base (eip155:8453, test money).')
  })

  it.each([
    ['https://gateway.example/v1/execute', 'in the header Payment-Signature'],
    ['mcp://tool/gateway.web.fetch', 'in _meta["x402/payment"]'],
    ['a2a://skill/web-fetch', 'in metadata["x402.payment.payload"]'],
  ])('say where the payment of %s goes', (url, place) => {
    expect(askingOf(call(1000n, url), [base], false).sentence).toContain(place)
  })

  it('name the test payer in a sandbox, and elsewhere whom to ask for which money', () => {
    expect(askingOf(call(1000n), [base], true).withoutWallet).toContain('test payer')
    const { withoutWallet } = askingOf(call(1000n), [base], false)
    expect(withoutWallet).toContain('the person you work for')
    expect(withoutWallet).toContain('USDC on Base')
    expect(withoutWallet).not.toContain('sandbox')
  })
})
