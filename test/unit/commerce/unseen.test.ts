// Ten attacks and thirty ordinary transactions of each protocol, written from the specifications by somebody who had not seen how they are
// judged, and first held against it when it was finished. `expected` is what they wrote. Where it is another decision here, `judged` says so,
// and always by one of these:
// - the completion of a checkout names no amount, so that no cap can be held against it;
// - a constraint that refers to a mandate which did not come along could not be checked, and is for a person;
// - a call of MCP carries no key, and nobody here knows that it only reads;
// - a mandate that comes along for the provider behind the shop names another audience.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Transaction } from '../../../schemas/commerce.ts'
import { toPolicy, transactionPolicyDocument } from '../../../src/commerce/policy/document.ts'
import { inspectTransaction } from '../../../src/commerce/policy/inspect.ts'

interface Written {
  readonly id: string
  readonly kind: 'attack' | 'ordinary'
  readonly title: string
  readonly expected: 'allow' | 'not_deny' | 'not_allow' | 'deny'
  readonly judged?: 'review'
  readonly transaction: Transaction
}

const NOW = Date.UTC(2026, 10, 23, 14)
const TOKENS = [
  ['0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', 'eip155:8453'],
  ['0x036CbD53842c5426634e7929541eC2318f3dCF7e', 'eip155:84532'],
  ['0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42', 'eip155:8453'],
  ['0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359', 'eip155:137'],
  ['0xB97EF9Ef8734C71904D8002F8b6Bc66Dd9c48a6E', 'eip155:43114'],
  ['EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v', 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp'],
  ['4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU', 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1'],
  ['0x20c0000000000000000000000000000000000000', 'eip155:4217'],
] as const
const assets = TOKENS.map(([asset, network]) => ({ asset, network }))
const policy = toPolicy(
  transactionPolicyDocument.parse({
    default: {
      caps: [
        ...assets.map((one) => ({ ...one, max: '100000000' })),
        ...'USD EUR GBP JPY CHF CAD AUD MXN SAR AED INR BRL'
          .split(' ')
          .map((currency) => ({ currency, max: '1000000' })),
      ],
      allowed_assets: assets,
      allowed_networks: [...new Set(assets.map(({ network }) => network))],
      allowed_schemes: ['exact', 'upto'],
    },
  }),
  undefined,
)
const read = (protocol: string): Written[] =>
  JSON.parse(readFileSync(new URL(`../../data/commerce/unseen/${protocol}.json`, import.meta.url), 'utf8'))

const ACCEPTED: Readonly<Record<Written['expected'], readonly string[]>> = {
  allow: ['allow'],
  not_deny: ['allow', 'review'],
  not_allow: ['review', 'deny'],
  deny: ['deny'],
}

describe.each(['x402', 'mpp', 'ap2', 'ucp', 'acp', 'mcp'])('%s, written by somebody else', (protocol) => {
  const written = read(protocol)

  it('is ten attacks and thirty ordinary transactions', () => {
    expect(written.filter(({ kind }) => kind === 'attack')).toHaveLength(10)
    expect(written.filter(({ kind }) => kind === 'ordinary')).toHaveLength(30)
  })

  it.each(written.map((one) => [one.id, one.title, one] as const))('%s: %s', (_id, _title, one) => {
    const { policy: judged, layers } = inspectTransaction(one.transaction, policy, NOW)
    expect(one.judged === undefined ? ACCEPTED[one.expected] : [one.judged]).toContain(judged.decision)
    expect(layers.map(({ name }) => name)).toContain(protocol)
  })
})
