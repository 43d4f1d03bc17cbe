// Spend windows in the words of a policy, and what they would have said of the payments on record, one after the other.
import { describe, expect, it } from 'vitest'
import { transactionPolicyDocument } from '../../../src/commerce/policy/document.ts'
import { policyTexts } from '../../../src/doors/console/texts/policies.ts'
import { GAPS, SENTENCES, toSentence } from '../../../src/policies/statements.ts'
import { transactionPolicy } from '../../../src/policies/transaction.ts'
import type { PaymentClaim, Store } from '../../../src/store/ports.ts'

const USDC = '0x036cbd53842c5426634e7929541ec2318f3dcf7e'
const NETWORK = 'eip155:84532'
const MINUTE = 60_000
const parse = (rules: object) => transactionPolicyDocument.parse({ default: rules })
const window = (max: string, more: object = {}) => ({
  period: 'hour',
  asset: USDC,
  network: NETWORK,
  max,
  ...more,
})
const caps = [{ asset: USDC, network: NETWORK, max: '1000' }]

const claim = (minute: number, amount: string, more: Partial<PaymentClaim> = {}) =>
  ({
    id: `clm_${minute}`,
    tool: 'gateway.web.fetch',
    network: NETWORK,
    asset: USDC,
    amount,
    payer: `0x${'a1'.repeat(20)}`,
    payTo: `0x${'b2'.repeat(20)}`,
    accountId: 'acct_1',
    purchase: null,
    createdAt: minute * MINUTE,
    ...more,
  }) as PaymentClaim

async function replay(rules: object, claims: readonly PaymentClaim[]) {
  const items = claims.toSorted((a, b) => b.createdAt - a.createdAt)
  const store = { searchClaims: async () => ({ items, next: null }) } as Partial<Store> as Store
  const { decisions, gaps } = await transactionPolicy.past(store, 'acct_1', 100)
  const document = parse({ caps, ...rules })
  const judged = decisions.toReversed().map(({ at, judge }) => [at / MINUTE, judge(document)] as const)
  return {
    denied: judged
      .filter(([, { verdict }]) => verdict === 'deny')
      .map(([at, { reasons }]) => [at, ...reasons]),
    gaps,
  }
}

describe('a policy with spend windows', () => {
  it('says each in a sentence, for everybody and for whoever differs', () => {
    const document = transactionPolicyDocument.parse({
      default: {
        spend_windows: [window('500'), { period: 'day', per: 'mandate', currency: 'eur', max: '2000' }],
      },
      accounts: { acct_1: { spend_windows: [window('50', { per: 'counterparty' })] } },
    })
    const words = transactionPolicy.explain(document).map(toSentence)
    expect(words).toContain(
      `*: within any hour, payments that are counted come to at most 500 units of ${USDC} (${NETWORK}).`,
    )
    expect(words).toContain(
      '*: within any 24 hours, payments under one mandate or checkout that are counted come to at most 2000 units of EUR.',
    )
    expect(words.filter((line) => line.startsWith('acct_1'))).toEqual([
      `acct_1: within any hour, payments to one recipient that are counted come to at most 50 units of ${USDC} (${NETWORK}).`,
    ])
  })

  it('is said in Arabic, too', () => {
    const { sentences, gapTexts } = policyTexts.ar
    expect(Object.keys(SENTENCES).filter((code) => !Object.hasOwn(sentences, code))).toEqual([])
    expect(Object.keys(GAPS).filter((code) => !Object.hasOwn(gapTexts, code))).toEqual([])
  })

  it('adds up what passed: what is denied leaves room for what comes after it', async () => {
    const claims = [
      claim(0, '60'),
      claim(10, '50'),
      claim(20, '40'),
      claim(59, '1'),
      claim(60, '60'),
      claim(61, '1'),
    ]
    const { denied, gaps } = await replay({ spend_windows: [window('100')] }, claims)
    expect(denied).toEqual([
      [10, 'SPEND_OVER_CAP'],
      [59, 'SPEND_OVER_CAP'],
      [61, 'SPEND_OVER_CAP'],
    ])
    expect(gaps).toContain('spend_windows')
    expect((await replay({}, claims)).denied).toEqual([])
  })

  it('tells accounts apart, payers without one, recipients and assets', async () => {
    const claims = [
      claim(0, '100'),
      claim(1, '100', { accountId: 'acct_2' }),
      claim(2, '100', { accountId: null }),
      claim(3, '100', { accountId: null, payer: `0x${'c3'.repeat(20)}` }),
      claim(4, '1', { accountId: null }),
    ]
    expect((await replay({ spend_windows: [window('100')] }, claims)).denied).toEqual([[4, 'SPEND_OVER_CAP']])
    const recipients = [claim(0, '100'), claim(1, '100', { payTo: `0x${'d4'.repeat(20)}` }), claim(2, '1')]
    expect(
      (await replay({ spend_windows: [window('100', { per: 'counterparty' })] }, recipients)).denied,
    ).toEqual([[2, 'SPEND_OVER_CAP']])
    const euros = [{ period: 'hour', currency: 'EUR', max: '0' }]
    expect((await replay({ spend_windows: euros }, recipients)).denied).toEqual([])
    expect((await replay({ spend_windows: [window('0', { per: 'mandate' })] }, recipients)).denied).toEqual(
      [],
    )
  })
})
