// Ordinary transactions: none is denied, at the edge none is blocked, and whoever has to look is told why.
import { describe, expect, it } from 'vitest'
import { checkTransaction } from '../../../src/edge/transaction-check.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import { toPolicy } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'
import { BENIGN, type Benign } from '../../data/commerce/benign/index.ts'
import { wire } from '../../support/commerce.ts'

const NOW_MS = 1_790_000_030_000
const caps = ['EUR', 'JPY', 'BRL', 'INR', 'AED', 'MXN', 'USD'].map((currency) => ({
  currency,
  max: '1000000',
}))
const USDC = { asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e', network: 'eip155:84532', max: '1000000' }
const PATH_USD = {
  asset: '0x20c0000000000000000000000000000000000001',
  network: 'eip155:42431',
  max: '1000000',
}
const policy = toPolicy({ default: { caps: [...caps, USDC, PATH_USD] }, accounts: {} }, undefined)
const unwritten = toPolicy({ default: {}, accounts: {} }, undefined)

const byProtocol = Map.groupBy(BENIGN, ({ is }) => is)

describe('ordinary transactions', () => {
  it('are at least three hundred, each of its own', () => {
    expect(new Set(BENIGN.map(({ source }) => JSON.stringify(source))).size).toBeGreaterThanOrEqual(300)
    expect([...byProtocol.keys()].toSorted()).toEqual(['acp', 'mcp', 'mpp', 'ucp', 'x402'])
  })

  it.each([...byProtocol])(
    'of %s are recognised and allowed, or reviewed for what they leave unsaid',
    (is, list) => {
      const judged = list.map(({ id, source }) => {
        const { protocol, policy: said } = inspectTransaction(wire(source), policy, NOW_MS)
        return {
          id,
          protocol,
          reasons: said.reasons.filter(({ severity }) => severity !== 'info').map(({ code }) => code),
        }
      })
      expect(judged).toEqual(
        list.map(({ id, review }: Benign) => ({ id, protocol: is, reasons: [...review] })),
      )
    },
  )

  it('pass the edge where nobody wrote a policy', () => {
    const blocked = BENIGN.flatMap(({ id, source }) =>
      checkTransaction(readMessage(wire(source)), { policy: unwritten, now: NOW_MS })
        .findings.filter(({ blocks }) => blocks)
        .map(({ rule }) => `${id}: ${rule}`),
    )
    expect(blocked).toEqual([])
  })
})
