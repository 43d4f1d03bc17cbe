// What a receipt says happened, for each kind that the gateway signs.
import { describe, expect, it } from 'vitest'
import { transactionUrl } from '../../../src/doors/site/components/transaction.tsx'
import { nameNetwork, storyOf } from '../../../src/doors/site/story.ts'

const valid = { status: 'valid', replaced_by: null, revoked_key: null } as const
const tell = (claims: Record<string, unknown>) => storyOf({ claims, ...valid })
const eventsOf = (claims: Record<string, unknown>) => tell(claims).events.map(({ event }) => event)

const usdc = { network: 'eip155:8453', asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913' }
const times = { created_at: '2026-11-23T10:00:00.000Z', finished_at: '2026-11-23T10:00:00.250Z' }
const attempt = {
  action: 'egress.fetch',
  attempt_id: 'att_1',
  capability_id: 'cap_1',
  charge: { amount: 1, unit: 'credit' },
  outcome: 'delivered',
  state: 'settled',
  request: { digest: 'd', host: 'api.example', method: 'GET' },
  response: { digest: 'r', leak_gate: 'clean', status: 200 },
  times,
}

describe('storyOf', () => {
  it('tells a payment from the request to the signature', () => {
    const story = tell({
      kind: 'payment',
      amount: '1000',
      result_sha256: 'x',
      transaction: '0x1',
      iat: 1,
      ...usdc,
    })
    expect(story).toMatchObject({ about: 'payment', amount: '0.001', unit: 'USDC' })
    expect(story.events.map(({ event }) => event)).toEqual(['asked', 'paid', 'settled', 'answered', 'signed'])
    expect(story.events[2]?.facts).toEqual({ transaction: '0x1' })
  })

  it('says no USDC of an asset that is not the one of its network', () => {
    expect(tell({ kind: 'payment', amount: '1000', ...usdc, asset: '0xbad' })).toMatchObject({
      amount: '1000',
      unit: 'atomic',
    })
    expect(tell({ kind: 'payment', amount: '1000', ...usdc, network: 'eip155:999' })).toMatchObject({
      unit: 'atomic',
    })
    expect(tell({ kind: 'payment', amount: '-1', ...usdc })).toMatchObject({ amount: '', unit: '' })
  })

  it.each([
    ['a refund', { kind: 'refund', amount: '5000000', ...usdc }, ['refunded', 'signed'], '5'],
    ['a payout', { kind: 'payout', amount: '10000000', ...usdc }, ['paid_out', 'signed'], '10'],
    [
      'a call',
      { action: 'call', charge: { amount: 3 }, times },
      ['asked', 'answered', 'charged', 'signed'],
      '3',
    ],
    ['a request', attempt, ['asked', 'allowed', 'answered', 'charged', 'signed'], '1'],
    [
      'one without credential',
      { ...attempt, capability_id: undefined },
      ['asked', 'answered', 'charged', 'signed'],
      '1',
    ],
    [
      'one that was withheld',
      { ...attempt, outcome: 'secret_reflected' },
      ['asked', 'allowed', 'withheld', 'charged', 'signed'],
      '1',
    ],
    [
      'one without an answer',
      { ...attempt, state: 'ambiguous', outcome: 'no_answer' },
      ['asked', 'allowed', 'unanswered', 'charged', 'signed'],
      '1',
    ],
    [
      'a repetition',
      { ...attempt, replayed: true, charge: { amount: 0 } },
      ['asked', 'allowed', 'answered', 'replayed', 'signed'],
      '0',
    ],
    [
      'a decision',
      { ...attempt, action: 'egress.reconcile', refunded: { amount: 1 } },
      ['asked', 'decided', 'signed'],
      '1',
    ],
    ['what is not known', { hello: 1 }, ['signed'], ''],
  ])('tells %s', (_what, claims, events, amount) => {
    expect(eventsOf(claims)).toEqual(events)
    expect(tell(claims).amount).toBe(amount)
  })

  it('ends with what became of it since', () => {
    const revoked = { kid: 'k', revoked_at: times.created_at, reason: 'lost' }
    const last = (more: object) => storyOf({ claims: {}, ...valid, ...more }).events.at(-1)
    expect(last({ status: 'withdrawn' })).toMatchObject({ event: 'withdrawn', is: 'failed' })
    expect(last({ status: 'superseded', replaced_by: 'rcp_2' })).toMatchObject({
      event: 'superseded',
      facts: { replaced_by: 'rcp_2' },
    })
    expect(last({ revoked_key: revoked })).toMatchObject({
      event: 'renewed',
      facts: { kid: 'k', reason: 'lost' },
    })
  })

  it('survives claims of any form', () => {
    const odd = [null, [], {}, 'x', 1e300, Number.NaN, { a: { b: 1 } }]
    for (const kind of ['payment', 'refund', 'payout', undefined])
      for (const action of ['call', 'egress.fetch', 'egress.reconcile', undefined])
        for (const value of odd)
          expect(() =>
            tell({
              kind,
              action,
              iat: value,
              amount: value,
              times: value,
              request: value,
              response: value,
              charge: value,
              refunded: value,
              network: value,
            }),
          ).not.toThrow()
  })
})

describe('a transaction', () => {
  const hash = `0x${'ab'.repeat(32)}`
  it('is linked where an explorer shows it', () => {
    expect(transactionUrl(hash, 'eip155:8453', 'production')).toBe(`https://basescan.org/tx/${hash}`)
    expect(nameNetwork('eip155:8453')).toBe('Base (eip155:8453)')
  })
  it.each([
    ['a sandbox', hash, 'eip155:8453', 'sandbox'],
    ['an unknown network', hash, 'eip155:31337', 'production'],
    ['a network that is a member of every object', hash, 'constructor', 'production'],
    ['what is no hash', 'javascript:alert(1)', 'eip155:8453', 'production'],
    ['a path behind the hash', `${hash}/../x`, 'eip155:8453', 'production'],
  ])('is not linked for %s', (_what, text, network, environment) => {
    expect(transactionUrl(text, network, environment)).toBeUndefined()
  })
})
