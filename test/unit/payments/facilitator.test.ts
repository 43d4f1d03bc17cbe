// What /settle writes down beside the settlement: whose free allowance it was, and why a claim was given back.
import { createSecretKey } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { chargeOf } from '../../support/no-gate.ts'
import type { Caller } from '../../../src/core/caller.ts'
import type { Config } from '../../../src/core/config.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { createClaimsInHand } from '../../../src/payments/claims-in-hand.ts'
import { createFacilitator, type FacilitatorParts } from '../../../src/payments/facilitator.ts'
import type { Settlements } from '../../../src/payments/ports.ts'
import { type PaymentPolicyDocument, paymentPolicyDocument, toPolicy } from '../../../src/payments/policy.ts'
import { createPresentations } from '../../../src/payments/presentation.ts'
import { toRequirements } from '../../../src/payments/requirements.ts'
import type { PaymentClaim, Store } from '../../../src/store/ports.ts'
import { signPayment } from '../../support/chain.ts'
import { networks, sepolia } from '../../support/payment-fakes.ts'
import { log } from '../../support/store.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'
import { cites } from '../../requirements.ts'

const buyer = privateKeyToAccount(`0x${'a9'.repeat(32)}`)
const SELLER = '0x0000000000000000000000000000000000C0FFEE'

let temp: TempStore
beforeEach(async () => void (temp = await openTempStore()))
afterEach(() => temp.close())

interface Terms {
  readonly config?: Partial<Config>
  readonly policy?: Partial<PaymentPolicyDocument>
  readonly caller?: object
  /** The store claims, and does not say so. */
  readonly isClaimAnswerLost?: boolean
}

function open(allowance: number, settle: Settlements['settle'], terms: Terms = {}) {
  let verified = 0
  const claims: PaymentClaim[] = []
  const holders: string[] = []
  const canceled: { id: string; reason: string }[] = []
  const store: Store = {
    ...temp.store,
    async claimPayment(input) {
      const claimed = await temp.store.claimPayment(input)
      if (claimed.ok) claims.push(claimed.claim)
      if (terms.isClaimAnswerLost) throw new GatewayError('store_unavailable', 'The connection was lost.')
      return claimed
    },
    takeSettlement(input) {
      holders.push(...input.allowances.map(({ holder }) => holder))
      return temp.store.takeSettlement(input)
    },
    cancelClaim(input) {
      canceled.push({ id: input.id, reason: input.reason })
      return temp.store.cancelClaim(input)
    },
  }
  const facilitator = createFacilitator({
    config: {
      settleFreeAllowance: allowance,
      settleKeylessAllowance: 1000,
      settleMinAtomic: 1000n,
      settleWithoutKey: 'anyone',
      ...terms.config,
    } as Config,
    readPolicy: async () => toPolicy({ ...paymentPolicyDocument.initial, ...terms.policy }),
    store,
    networks,
    verifier: {
      async verify() {
        verified++
        return { ok: true, payer: buyer.address }
      },
    },
    router: { routes: async () => [{ id: 'local' }] } as unknown as FacilitatorParts['router'],
    settlements: {
      settle,
      reconcileOne: async (claim: PaymentClaim) => claim,
      ...createClaimsInHand({ store, bootId: 'boot', now: Date.now, log }),
    } as unknown as Settlements,
    presentations: createPresentations(createSecretKey(Buffer.alloc(32, 1))),
    creditsRequired: async () => new GatewayError('credits_required', 'no credits'),
    baseUrl: 'https://gw.example.com',
    bootId: 'boot',
    now: Date.now,
    fault: noFault,
  })
  const caller = (terms.caller ?? { kind: 'anonymous' }) as Caller
  async function bodyOf(payTo: string, amountAtomic: bigint, account: typeof buyer) {
    const requirements = toRequirements({ network: sepolia, amountAtomic, payTo })
    const paymentPayload = await signPayment({ account, requirements })
    return { x402Version: 2, paymentPayload, paymentRequirements: requirements }
  }
  return {
    ask: async (payTo: string, amount = 1000n, account = buyer) =>
      facilitator.settle(await bodyOf(payTo, amount, account), caller, chargeOf()),
    verify: async (payTo: string, amount = 1000n) =>
      facilitator.verify(await bodyOf(payTo, amount, buyer), caller),
    verified: () => verified,
    claims,
    holders,
    canceled,
    reasonOf: async (id: string) => (await temp.store.getClaim(id))?.reason,
  }
}

const settled: Settlements['settle'] = async ({ claim }) => ({
  state: 'settled',
  claim: { ...claim, transaction: `0x${'ab'.repeat(32)}` },
  receipt: { id: 'rcp_1', accountId: '', jws: '', createdAt: 0 },
})

it(
  cites(
    'x402:settle:allowance',
    'counts one allowance for a seller, in whatever case its address is written',
  ),
  async () => {
    const { ask, holders } = open(2, settled)
    await ask(SELLER)
    await ask(SELLER.toLowerCase())
    await expect(ask(SELLER.toUpperCase().replace('0X', '0x'))).rejects.toMatchObject({
      code: 'credits_required',
    })
    expect(new Set(holders)).toEqual(
      new Set([
        `${sepolia.network}:${SELLER.toLowerCase()}`,
        `${sepolia.network}:payer:${buyer.address.toLowerCase()}`,
        `${sepolia.network}:keyless`,
      ]),
    )
  },
)

it('cancels a claim of which the store did not say whether it has it', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { ask, claims, reasonOf } = open(2, settled, { isClaimAnswerLost: true })
  await expect(ask(SELLER)).rejects.toMatchObject({ code: 'store_unavailable' })
  expect(claims).toHaveLength(1)
  await vi.advanceTimersByTimeAsync(1000)
  await vi.waitFor(async () => expect(await reasonOf(claims[0]!.id)).toBe('not_submitted'), {
    timeout: 60_000,
  })
})

describe('without a key', () => {
  const addressOf = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
  const payerOf = (n: number) => privateKeyToAccount(`0x${(0xbeef_0000 + n).toString(16).padStart(64, '0')}`)
  const used = (whose: RegExp) => ({ code: 'credits_required', message: expect.stringMatching(whose) })

  it('fresh payees of one payer have one allowance', async () => {
    const { ask } = open(3, settled)
    for (let i = 1; i <= 3; i++) await ask(addressOf(i))
    await expect(ask(addressOf(4))).rejects.toMatchObject(used(/allowance of 3 .* payments of 0x/))
  })

  it(
    cites(
      'x402:settle:faucet',
      'fresh payers and fresh payees, a hundred of each, have the one of their network',
    ),
    async () => {
      const { ask } = open(1000, settled, { config: { settleKeylessAllowance: 5 } })
      const asked = Array.from({ length: 100 }, (_, i) => ask(addressOf(i + 1), 1000n, payerOf(i)))
      const results = await Promise.allSettled(asked)
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(5)
      await expect(ask(addressOf(999))).rejects.toMatchObject(
        used(/allowance of 5 .* without a key on eip155/),
      )
    },
  )

  it(
    cites(
      'x402:settle:faucet',
      'a payment is refused that is too small, before it costs anything, and by /verify too',
    ),
    async () => {
      const { ask, verify, verified, claims } = open(3, settled)
      const refused = {
        code: 'payment_blocked',
        reason: 'amount',
        message: expect.stringMatching(
          /at least 1000 atomic units .* this one is over 999\. Send the service key/,
        ),
      }
      await expect(ask(SELLER, 999n)).rejects.toMatchObject({
        ...refused,
        extras: { success: false, errorReason: 'amount_below_minimum' },
      })
      await expect(verify(SELLER, 999n)).rejects.toMatchObject({
        ...refused,
        extras: { isValid: false, invalidReason: 'amount_below_minimum' },
      })
      expect([verified(), claims]).toEqual([0, []])
      await ask(SELLER, 1000n)
    },
  )

  it.each<[string, Terms]>([
    ['nobody is served where the operator says so', { config: { settleWithoutKey: 'nobody' } }],
    [
      'nobody but known payees is served where the operator says so',
      { config: { settleWithoutKey: 'known' }, policy: { known_payees: [addressOf(1)] } },
    ],
  ])('%s', async (_, terms) => {
    const { ask, verify, verified } = open(3, settled, terms)
    const refused = { code: 'key_required', message: expect.stringMatching(/Send the service key/) }
    await expect(ask(SELLER)).rejects.toMatchObject({
      ...refused,
      extras: { success: false, errorReason: 'key_required', transaction: '' },
    })
    await expect(verify(SELLER)).rejects.toMatchObject({
      ...refused,
      extras: { isValid: false, invalidReason: 'key_required' },
    })
    expect(verified()).toBe(0)
  })

  it.each([SELLER, SELLER.toLowerCase(), `0x${SELLER.slice(2).toUpperCase()}`])(
    'a known payee is known in any case: %s',
    async (spelling) => {
      for (const known of [SELLER, SELLER.toLowerCase(), SELLER.toUpperCase()]) {
        const terms: Terms = { config: { settleWithoutKey: 'known' }, policy: { known_payees: [known] } }
        await expect(open(9, settled, terms).ask(spelling)).resolves.toMatchObject({ success: true })
      }
    },
  )
})

it('with a key counts one allowance for the account, whatever is paid by whom to whom', async () => {
  const { ask, holders } = open(3, settled, {
    config: { settleWithoutKey: 'nobody', settleKeylessAllowance: 0 },
    caller: { kind: 'operator', accountId: 'acct_1' },
  })
  await ask(SELLER, 1n)
  await ask('0x000000000000000000000000000000000000bEEF', 2n)
  expect(new Set(holders)).toEqual(new Set(['acct_1']))
})

it('says of a claim that nobody pays for why it was given back', async () => {
  const { ask, claims, canceled, reasonOf } = open(0, settled)
  await expect(ask(SELLER)).rejects.toMatchObject({ code: 'credits_required' })
  expect(canceled).toEqual([{ id: claims[0]?.id, reason: 'credits_required' }])
  expect(await reasonOf(claims[0]?.id ?? '')).toBe('credits_required')
})

it('says of a claim that was not submitted why it was given back', async () => {
  const { ask, claims, canceled, reasonOf } = open(1, () => Promise.reject(new Error('the store is away')))
  await expect(ask(SELLER)).rejects.toThrow()
  expect(canceled).toEqual([{ id: claims[0]?.id, reason: 'not_submitted' }])
  expect(await reasonOf(claims[0]?.id ?? '')).toBe('not_submitted')
})
