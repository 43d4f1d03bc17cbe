// Spend windows as an inspection with a key meets them: what counts, as what, once, and what is over, replayed or unknown.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { InspectResult } from '../../../schemas/commerce.ts'
import { analyse } from '../../../src/commerce/analysis.ts'
import { createCommerce } from '../../../src/commerce/index.ts'
import { readMessage } from '../../../src/commerce/message.ts'
import {
  type PolicyRules,
  toPolicy,
  transactionPolicyDocument,
} from '../../../src/commerce/policy/document.ts'
import { judgeMessage } from '../../../src/commerce/policy/judge.ts'
import { readPayment } from '../../../src/commerce/spend/payment.ts'
import type { SpendStore } from '../../../src/commerce/spend/windows.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { SESSIONS, USDC as TOKEN } from '../../data/commerce/mpp-sessions.ts'
import { SAMPLES } from '../../data/commerce/samples.ts'
import { change, type Change, type Plain, type SampleSource, wire } from '../../support/commerce.ts'
import { type DirectStore, openDirectStore } from '../../support/direct-store.ts'

const USDC = '0x036CbD53842c5426634e7929541eC2318f3dCF7e'
const PAYEE = '0x52908400098527886E0F7030069857D2E4169EE7'
const OTHER = '0x8617E340B3D01FA5F11F306F4090FD50E238070D'
const NOW = 1_790_000_030_000
/** The challenge of MPP that is paid ends earlier than the rest. */
const BEFORE_MPP_EXPIRES = 1_789_999_400_000
const HOUR = 3_600_000
const DAY = 24 * HOUR

let direct: DirectStore
beforeAll(async () => {
  direct = await openDirectStore()
})
afterAll(() => direct.remove())

const set = (at: string, value: Plain): Change => ({ op: 'set', at, value })
const sample = (name: string, ...changes: Change[]): SampleSource => change(SAMPLES[name]!, changes)

type Window = NonNullable<PolicyRules['spend_windows']>[number]
const usdc = (max: string, more: Partial<Window> = {}) =>
  ({ period: 'hour', per: 'all', asset: USDC, network: 'eip155:84532', max, ...more }) as Window
const euro = (max: string, more: Partial<Window> = {}) =>
  ({ period: 'hour', per: 'all', currency: 'EUR', max, ...more }) as Window

const NO_POLICY = toPolicy({ default: {}, accounts: {} }, undefined)
let accounts = 0
/** An account, one of its own unless it is named, under a policy: caps that everything passes, and these windows. */
function open(
  windows: readonly Window[],
  rules: PolicyRules = {},
  { accountId = `acct_${(accounts += 1)}`, store = direct.store as SpendStore } = {},
) {
  const clock = { now: NOW }
  const value = transactionPolicyDocument.parse({
    default: {
      caps: [
        { asset: USDC, network: 'eip155:84532', max: '1000000' },
        { currency: 'EUR', max: '1000000' },
      ],
      spend_windows: windows,
      ...rules,
    },
  })
  const commerce = createCommerce({
    documents: { read: async () => ({ value: value as never }) },
    store,
    log: createLogger('silent'),
    now: () => clock.now,
  })
  const ask = async (source: SampleSource, isCounted: boolean) => {
    const result = InspectResult.parse(await commerce.inspect(wire(source), { accountId, isCounted }))
    return { ...result, codes: result.policy.reasons.map(({ code }) => code) }
  }
  return {
    clock,
    accountId,
    commerce,
    count: (source: SampleSource) => ask(source, true),
    judge: (source: SampleSource) => ask(source, false),
  }
}

const SIGNED = '/headers/PAYMENT-SIGNATURE/$base64/payload/authorization'
const ACCEPTED = '/headers/PAYMENT-SIGNATURE/$base64/accepted'
let nonces = 0
/** A payment of x402 with a nonce of its own, unless changed. */
const pay = (amount: string, ...changes: Change[]) =>
  sample(
    'x402-http',
    { op: 'remove', at: '/headers/PAYMENT-SIGNATURE/$base64/extensions/offer-receipt' },
    set(`${SIGNED}/value`, amount),
    set(`${ACCEPTED}/amount`, amount),
    set(`${SIGNED}/nonce`, `0x${(nonces += 1).toString(16).padStart(64, 'f')}`),
    ...changes,
  )
const nonce = (digits: string) => set(`${SIGNED}/nonce`, `0x${digits.repeat(64 / digits.length)}`)
/** Another token of the same network, and the same address on another network. */
const SAME_CHAIN = '0x5425890298aed601595a70AB815c96711a31Bc65'
const OTHER_NETWORK = { network: 'eip155:8453' } as Partial<Window> & { network: string }
const to = (address: string) => [set(`${SIGNED}/to`, address), set(`${ACCEPTED}/payTo`, address)]

describe('what is counted', () => {
  it('is nothing unless asked: a look says what is left, and that it was no more than a look', async () => {
    const { judge } = open([usdc('100')])
    for (let i = 0; i < 3; i++) {
      const { spend, policy } = await judge(pay('60'))
      expect(policy.decision).toBe('allow')
      expect(spend).toEqual({
        status: 'not_counted',
        counted_at: null,
        windows: [
          {
            period: 'hour',
            per: 'all',
            asset: USDC.toLowerCase(),
            network: 'eip155:84532',
            currency: null,
            cap: '100',
            spent: '0',
            left: '100',
            frees_at: null,
          },
        ],
      })
    }
  })

  it('adds up: the payment that would pass the cap is denied, and counts nothing', async () => {
    const { count, judge, clock } = open([usdc('100')])
    expect((await count(pay('60'))).spend).toMatchObject({
      status: 'counted',
      counted_at: new Date(NOW).toISOString(),
      windows: [{ spent: '60', left: '40', frees_at: new Date(NOW + HOUR).toISOString() }],
    })
    for (const ask of [judge, count]) {
      const over = await ask(pay('41'))
      expect(over.policy.decision).toBe('deny')
      expect(over.codes).toEqual(['SPEND_OVER_CAP'])
      expect(over.policy.reasons[0]).toMatchObject({
        path: '/headers/PAYMENT-SIGNATURE#/payload/authorization/value',
      })
      expect(over.policy.reasons[0]!.message).toContain('60 are counted')
      expect(over.spend!.windows[0]).toMatchObject({ spent: '60', left: '40' })
    }
    expect((await count(pay('40'))).spend!.windows[0]).toMatchObject({ spent: '100', left: '0' })
    // What is paid with something else is not concerned, and an hour later all of it is free.
    expect((await count(sample('acp-delegate'))).spend).toMatchObject({ status: 'counted', windows: [] })
    clock.now += HOUR
    expect((await judge(pay('100'))).spend!.windows[0]).toMatchObject({ spent: '0', left: '100' })
  })

  it('is no payment that is denied for anything else, and none that a person has to look at is left out', async () => {
    const halted = open([usdc('100')], { halted: true })
    expect((await halted.count(pay('60'))).spend).toMatchObject({
      status: 'denied',
      windows: [{ spent: '0' }],
    })
    // Without a cap it is a review, and may well be sent.
    const reviewed = open([usdc('100')], { caps: [] })
    const { spend, policy } = await reviewed.count(pay('60'))
    expect([policy.decision, spend!.status]).toEqual(['review', 'counted'])
  })

  it.each([
    'x402-challenge',
    'mpp-challenge',
    'mpp-receipt',
    'acp-create',
    'ucp-create',
    'ap2-checkout',
    'ap2-v01-intent',
    'mcp-2026',
  ])('is nothing of %s, by which nobody pays yet', async (name) => {
    const { count } = open([usdc('0'), euro('0')])
    expect((await count(SAMPLES[name]!)).spend).toEqual({
      status: 'not_a_payment',
      counted_at: null,
      windows: [],
    })
  })

  it.each([
    'x402-http',
    'x402-bare',
    'x402-get',
    'x402-mcp',
    'x402-a2a',
    'x402-permit2',
    'mpp-post',
    'mpp-get',
    'mpp-jsonrpc',
    'ap2-payment',
    'acp-delegate',
  ])('is %s, once, however often it is sent', async (name) => {
    const { count, judge, clock } = open([])
    if (name.startsWith('mpp-')) clock.now = BEFORE_MPP_EXPIRES
    const since = new Date(clock.now).toISOString()
    const first = await count(SAMPLES[name]!)
    expect(first.spend!.status, first.codes.join()).toBe('counted')
    clock.now += 1000
    expect((await count(SAMPLES[name]!)).spend).toMatchObject({
      status: 'already_counted',
      counted_at: since,
    })
    expect((await judge(SAMPLES[name]!)).spend!.status).toBe('already_counted')
  })
})

describe('what is left', () => {
  it('is that of each unit by itself', async () => {
    const { count, judge } = open([
      usdc('100'),
      usdc('100', { asset: SAME_CHAIN }),
      usdc('100', OTHER_NETWORK),
    ])
    expect((await count(pay('60'))).spend!.windows).toMatchObject([{ spent: '60' }])
    for (const at of [
      set(`${ACCEPTED}/asset`, SAME_CHAIN),
      set(`${ACCEPTED}/network`, OTHER_NETWORK.network),
    ])
      expect((await judge(pay('70', at))).spend!.windows).toMatchObject([{ spent: '0', left: '100' }])
    expect((await judge(pay('1'))).spend!.windows).toMatchObject([{ spent: '60' }])
  })

  it('is nothing, and never less, where the window became smaller than what is in it', async () => {
    const { accountId, count } = open([usdc('100')])
    await count(pay('60'))
    const { judge } = open([usdc('50')], {}, { accountId })
    expect((await judge(pay('1'))).spend!.windows).toMatchObject([{ cap: '50', spent: '60', left: '0' }])
  })

  it('is not to be had by an account that has as many payments as are remembered', async () => {
    // The bound is 100,000 payments: the store is asked to hold one.
    const store: SpendStore = {
      judgeSpend: (input) => direct.store.judgeSpend(input),
      countSpend: (input) => direct.store.countSpend({ ...input, maxCounted: 1 }),
    }
    const { count } = open([usdc('100')], {}, { store })
    expect((await count(pay('1'))).spend!.status).toBe('counted')
    const { codes, policy, spend } = await count(pay('1'))
    expect([policy.decision, codes, spend!.status]).toEqual(['deny', ['SPEND_NOT_COUNTED'], 'denied'])
  })
})

describe('one payment', () => {
  const first = () => pay('60', nonce('a1'))

  it.each<[string, readonly Change[]]>([
    ['another amount', [set(`${SIGNED}/value`, '61'), set(`${ACCEPTED}/amount`, '61')]],
    ['another recipient', to(OTHER)],
    [
      'another resource',
      [
        set('/target', 'https://api.example/other'),
        set('/headers/PAYMENT-SIGNATURE/$base64/resource/url', 'https://api.example/other'),
      ],
    ],
    [
      'another body',
      [{ op: 'remove', at: '/headers/Content-Digest' }, set('/body', '{"query":"coffee prices"}')],
    ],
    ['another asset', [set(`${ACCEPTED}/asset`, '0x5425890298aed601595a70AB815c96711a31Bc65')]],
    ['another network', [set(`${ACCEPTED}/network`, 'eip155:8453')]],
    [
      'its nonce in capitals, and another amount',
      [set(`${SIGNED}/nonce`, `0x${'A1'.repeat(32)}`), set(`${SIGNED}/value`, '1')],
    ],
  ])('is denied where its nonce comes with %s', async (_what, changes) => {
    const { count, judge } = open([usdc('1000')])
    expect((await count(first())).spend!.status).toBe('counted')
    for (const ask of [judge, count]) {
      const { policy, codes, spend } = await ask(change(first(), [...changes]))
      expect(policy.decision).toBe('deny')
      expect(codes).toContain('REPLAYED_NONCE')
      expect(spend!.status).not.toBe('counted')
    }
    const after = await judge(pay('1'))
    expect(after.spend!.windows[0]!.spent).toBe('60')
  })

  it.each<[string, readonly Change[]]>([
    [
      'signed anew',
      [set('/headers/PAYMENT-SIGNATURE/$base64/payload/signature', `0x${'5e71'.repeat(32)}1b`)],
    ],
    ['under another request id', [set('/headers/Request-Id', 'req-8000')]],
    [
      'with its body as JSON',
      [set('/body', { query: 'tea prices' }), { op: 'remove', at: '/headers/Content-Digest' }],
    ],
    ['with its addresses in lower case', to(PAYEE.toLowerCase())],
  ])('is the same %s', async (_what, changes) => {
    const { count } = open([usdc('100')])
    expect((await count(first())).spend!.status).toBe('counted')
    const again = await count(change(first(), [...changes]))
    expect(again.spend!.status, again.codes.join()).toBe('already_counted')
    expect(again.policy.decision).not.toBe('deny')
  })

  it('of MCP is the same under another id of its message, and another for other arguments', async () => {
    const { count } = open([])
    const call = sample('x402-mcp')
    expect((await count(call)).spend!.status).toBe('counted')
    expect((await count(change(call, [set('/body/id', 8)]))).spend!.status).toBe('already_counted')
    const other = await count(change(call, [set('/body/params/arguments/year', 2027)]))
    expect(other.codes).toContain('REPLAYED_NONCE')
  })

  it.each([
    ['a block', { block: 'AAEC'.repeat(40) }, { block: 'AAED'.repeat(40) }],
    [
      'a group',
      { paymentIndex: 0, paymentGroup: ['AAEC'.repeat(40), 'AAEE'.repeat(40)] },
      { paymentIndex: 0, paymentGroup: ['AAEC'.repeat(40), 'AAEF'.repeat(40)] },
    ],
  ])('that was signed as %s is known by what was signed, whatever key it is sent with', (_, one, other) => {
    const name = (payload: Plain, key: string) => {
      const source = sample(
        'x402-http',
        set('/headers/PAYMENT-SIGNATURE/$base64/payload', payload),
        set('/headers/PAYMENT-SIGNATURE/$base64/extensions/payment-identifier/info/id', key),
      )
      const { subject } = judgeMessage(analyse(readMessage(wire(source))), NO_POLICY, NOW)
      const payment = readPayment(subject)
      return typeof payment === 'string' ? payment : payment.identity?.name
    }
    expect(name(one, 'order-1-00000000000')).toContain('AAEC')
    expect(name(one, 'order-2-00000000000')).toBe(name(one, 'order-1-00000000000'))
    expect(name(other, 'order-1-00000000000')).not.toBe(name(one, 'order-1-00000000000'))
    // Many payments are made under one delegation.
    const delegation = { delegationManager: PAYEE, delegator: OTHER, permissionContext: 'AAEC'.repeat(40) }
    expect(name(delegation, 'order-1-00000000000')).not.toBe(name(delegation, 'order-2-00000000000'))
  })

  it('that has a key alone is known by it for a day, and only where it was sent to', async () => {
    const { count, clock } = open([euro('4000')])
    const delegate = sample('acp-delegate', set('/body/allowance/expires_at', '2026-09-30T15:00:00Z'))
    const reviewed = await count(delegate)
    expect(reviewed.spend).toMatchObject({ status: 'counted', windows: [{ spent: '1890' }] })
    expect((await count(delegate)).spend!.status).toBe('already_counted')
    const dearer = await count(change(delegate, [set('/body/allowance/max_amount', 1891)]))
    expect(dearer.codes).toContain('REPLAYED_NONCE')
    expect(dearer.policy.reasons.find(({ code }) => code === 'REPLAYED_NONCE')!.path).toBe(
      '/headers/Idempotency-Key',
    )
    const elsewhere = change(delegate, [
      set('/target', 'https://other.example/agentic_commerce/delegate_payment'),
    ])
    expect((await count(elsewhere)).spend).toMatchObject({ status: 'counted', windows: [{ spent: '3780' }] })
    clock.now += DAY
    expect((await count(delegate)).spend!.status).toBe('counted')
  })

  it('is known by its nonce as long as it is on record, thirty days', async () => {
    const { count, judge, clock } = open([])
    await count(first())
    const other = change(first(), to(OTHER))
    clock.now += 30 * DAY - 1
    expect((await judge(other)).codes).toContain('REPLAYED_NONCE')
    clock.now += 1
    expect((await judge(other)).codes).not.toContain('REPLAYED_NONCE')
  })

  it('of MCP is the same whatever is said about the message beside what is asked', async () => {
    const { count } = open([])
    const call = (note: string) =>
      sample(
        'x402-mcp',
        set('/body/params/arguments/_meta', { note }),
        set('/body/params/arguments/meta', { note }),
      )
    expect((await count(call('one'))).spend!.status).toBe('counted')
    expect((await count(call('two'))).spend!.status).toBe('already_counted')
  })

  it('of which nothing tells it from the next is another each time', async () => {
    const { count } = open([usdc('50000')])
    // A delegation may be redeemed again and again: it has no nonce.
    const unnamed = sample(
      'x402-http',
      { op: 'remove', at: '/headers/PAYMENT-SIGNATURE/$base64/extensions' },
      set('/headers/PAYMENT-SIGNATURE/$base64/payload', {
        delegationManager: '0x52908400098527886E0F7030069857D2E4169EE7',
        delegator: '0x52908400098527886E0F7030069857D2E4169EE7',
        permissionContext: `0x${'1b2c'.repeat(40)}`,
      }),
    )
    const twice = [await count(unnamed), await count(unnamed)]
    expect(twice.map(({ spend }) => [spend!.status, spend!.windows[0]!.spent])).toEqual([
      ['counted', '25000'],
      ['counted', '50000'],
    ])
    expect((await count(unnamed)).codes).toContain('SPEND_OVER_CAP')
  })

  it('of one account is nothing to another', async () => {
    const one = open([usdc('60')])
    expect((await one.count(first())).spend!.status).toBe('counted')
    const other = open([usdc('60')])
    expect((await other.count(first())).spend!.status).toBe('counted')
    expect((await other.judge(change(first(), to(OTHER)))).codes).toContain('REPLAYED_NONCE')
  })
})

describe('whose payments are added up', () => {
  it('by counterparty: the address that is paid, however it is written', async () => {
    const { count } = open([usdc('100', { per: 'counterparty' }), usdc('150', { period: 'day' })])
    expect(
      (await count(pay('100', ...to(PAYEE)))).spend!.windows.map(({ per, spent }) => [per, spent]),
    ).toEqual([
      ['counterparty', '100'],
      ['all', '100'],
    ])
    const again = await count(pay('1', ...to(PAYEE.toLowerCase())))
    expect(again.codes).toEqual(['SPEND_OVER_CAP'])
    expect(again.policy.reasons[0]!.message).toContain('this recipient')
    expect((await count(pay('50', ...to(OTHER)))).spend!.status).toBe('counted')
    const all = await count(pay('1', ...to('0x27b1fdb04752bbc536007a920d24acb045561c26')))
    expect(all.policy.reasons[0]!.message).toContain('the account')
  })

  it('by counterparty: the host where nobody else is named, whatever port and dot it is written with', async () => {
    const { count } = open([euro('1890', { per: 'counterparty' })])
    const at = (host: string, n: number) =>
      sample(
        'acp-complete',
        set('/body/currency', 'eur'),
        set('/body/totals', [{ type: 'total', amount: 1890 }]),
        set('/target', `https://${host}/checkout_sessions/cs_81aa/complete`),
        set('/headers/Idempotency-Key', `key-${n}`),
      )
    expect((await count(at('psp.example', 1))).spend!.status).toBe('counted')
    for (const [n, host] of ['psp.example', 'PSP.example', 'psp.example:443', 'psp.example.'].entries())
      expect((await count(at(host, 2 + n))).codes, host).toContain('SPEND_OVER_CAP')
    expect((await count(at('other.example', 9))).spend!.status).toBe('counted')
  })

  it('by mandate: what one open mandate pays for, whatever closes it; and the session of a checkout', async () => {
    const chain = '/body/payment_mandate_chain/$chain'
    const { count } = open([euro('3000', { per: 'mandate', period: 'day' })])
    const close = (n: number, ...changes: Change[]) =>
      sample(
        'ap2-payment',
        set(`${chain}/mandate/transaction_id`, `transaction-${n}`),
        set(`${chain}/token/nonce`, `nonce-${n}-Wn4pQz81LrT0sVb6`),
        ...changes,
      )
    expect((await count(close(1))).spend!.windows).toMatchObject([{ per: 'mandate', spent: '1890' }])
    expect((await count(close(2))).codes).toContain('SPEND_OVER_CAP')
    const another = await count(close(3, set(`${chain}/open/iat`, 1_790_000_001)))
    expect(another.spend!.windows).toMatchObject([{ spent: '1890' }])
    const session = (n: number, id: string) =>
      sample(
        'acp-delegate',
        set('/headers/Idempotency-Key', `key-${n}`),
        set('/body/allowance/checkout_session_id', id),
      )
    expect((await count(session(1, 'cs_1'))).spend!.status).toBe('counted')
    expect((await count(session(2, 'cs_1'))).codes).toContain('SPEND_OVER_CAP')
    expect((await count(session(3, 'cs_2'))).spend!.status).toBe('counted')
  })

  it('is one transaction of AP2, whoever is shown it under whatever nonce', async () => {
    const { count } = open([euro('2000')])
    expect((await count(SAMPLES['ap2-payment']!)).spend!.status).toBe('counted')
    const shown = sample(
      'ap2-payment',
      set('/target', 'https://processor.example/payments'),
      set('/body/payment_mandate_chain/$chain/token/nonce', 'Zz4pQz81LrT0sVb6Kc3MxY'),
    )
    expect((await count(shown)).spend).toMatchObject({
      status: 'already_counted',
      windows: [{ spent: '1890' }],
    })
    const dearer = sample(
      'ap2-payment',
      set('/body/payment_mandate_chain/$chain/mandate/payment_amount/amount', 1891),
    )
    expect((await count(dearer)).codes).toContain('REPLAYED_NONCE')
  })
})

describe('a session of MPP', () => {
  const NETWORK = 'eip155:84532'
  const rules: PolicyRules = { caps: [{ asset: TOKEN, network: NETWORK, max: '1000000' }] }
  const session = (name: string, more: { readonly [at: string]: Plain } = {}) =>
    change(
      SESSIONS[name]!,
      Object.entries(more).map(([at, value]) => set(`/headers/Authorization/$payment/${at}`, value)),
    )
  const voucher = (total: string) => session('evm voucher', { 'payload/cumulativeAmount': total })

  it('counts what its vouchers have come to, not their sum, and what was put in at its opening', async () => {
    const { count, judge } = open(
      [{ period: 'day', per: 'mandate', asset: TOKEN, network: NETWORK, max: '9000' } as Window],
      rules,
    )
    const spent = async (source: SampleSource) => {
      const { spend, codes } = await count(source)
      return [
        spend!.status,
        spend!.windows[0]?.spent,
        codes.filter((code) => /SPEND|REPLAY/.test(code)).join(),
      ]
    }
    expect(await spent(session('evm open by authorization'))).toEqual(['counted', '4000', ''])
    expect(await spent(voucher('2500'))).toEqual(['already_counted', '4000', ''])
    expect(await spent(voucher('6000'))).toEqual(['counted', '6000', ''])
    expect(await spent(voucher('6000'))).toEqual(['already_counted', '6000', ''])
    expect(await spent(voucher('9000'))).toEqual(['counted', '9000', ''])
    expect(await spent(voucher('9001'))).toEqual(['denied', '9000', 'SPEND_OVER_CAP'])
    expect(await spent(voucher('3000'))).toEqual(['already_counted', '9000', ''])
    // Another channel is another session.
    const other = session('evm voucher', {
      'payload/channelId': `0x${'7b'.repeat(32)}`,
      'payload/cumulativeAmount': '9000',
    })
    expect((await judge(other)).spend).toMatchObject({ status: 'not_counted', windows: [{ spent: '0' }] })
  })

  it('counts the shares of a split charge for those who get them', async () => {
    const { clock, count } = open([
      {
        period: 'hour',
        per: 'counterparty',
        asset: '0x20c0000000000000000000000000000000000001',
        network: 'eip155:42431',
        max: '750000',
      } as Window,
    ])
    clock.now = BEFORE_MPP_EXPIRES
    const first = await count(SAMPLES['mpp-get']!)
    expect(first.spend!.windows.map(({ spent }) => spent)).toEqual(['750000', '50000'])
  })

  it.each([
    [16, 'not_counted'],
    [17, 'amount_unknown'],
  ])('counts so many shares of one charge and no more: of %i it is %s', async (many, status) => {
    const { judge, clock } = open([])
    clock.now = BEFORE_MPP_EXPIRES
    const at = '/headers/Authorization/$payment/challenge/request/$base64url/methodDetails/splits'
    const shares = Array.from({ length: many }, (_, i) => ({
      recipient: `0x${String(i + 1).padStart(40, '0')}`,
      amount: '1',
    }))
    expect((await judge(sample('mpp-get', set(at, shares)))).spend!.status).toBe(status)
  })
})

describe('what cannot be counted', () => {
  it.each(['ucp-complete', 'ucp-mcp', 'acp-complete', 'ap2-v01-payment'])(
    'is a review where there are windows: the amount of %s is not known',
    async (name) => {
      const { count, judge } = open([euro('10')])
      for (const ask of [count, judge]) {
        const { spend, codes, policy } = await ask(SAMPLES[name]!)
        expect(spend!.status).toBe('amount_unknown')
        expect(codes).toContain('SPEND_NOT_COUNTED')
        expect(policy.decision).toBe('review')
      }
      // Without windows it is said only to whoever asked to count.
      expect((await open([]).judge(SAMPLES[name]!)).codes).not.toContain('SPEND_NOT_COUNTED')
      expect((await open([]).count(SAMPLES[name]!)).codes).toContain('SPEND_NOT_COUNTED')
    },
  )

  it('is what no account asks about', async () => {
    const { commerce } = open([usdc('0')])
    const result = await commerce.inspect(wire(pay('60')), undefined)
    expect([result.spend, result.policy.decision]).toEqual([null, 'allow'])
  })
})

describe('windows as a policy writes them', () => {
  it('hold where network or asset is written otherwise, and of two of one kind the tighter does', async () => {
    const { judge } = open([
      usdc('100', { asset: USDC.toLowerCase(), network: 'base-sepolia' } as never),
      usdc('50'),
      euro('7'),
    ])
    expect((await judge(pay('1'))).spend!.windows).toMatchObject([{ cap: '50' }])
    expect((await judge(pay('51'))).policy.decision).toBe('deny')
  })

  it.each<[string, object]>([
    ['no unit', { period: 'hour', max: '1' }],
    ['an asset without its network', { period: 'hour', max: '1', asset: USDC }],
    ['both', { period: 'hour', max: '1', asset: USDC, network: 'eip155:1', currency: 'EUR' }],
    ['another period', { period: 'week', max: '1', currency: 'EUR' }],
    ['a number', { period: 'day', max: 1, currency: 'EUR' }],
    ['a fraction', { period: 'day', max: '1.5', currency: 'EUR' }],
    ['another holder', { period: 'day', per: 'agent', max: '1', currency: 'EUR' }],
  ])('are refused with %s', (_what, one) => {
    expect(() => transactionPolicyDocument.parse({ default: { spend_windows: [one] } })).toThrow()
  })
})
