// What /settle writes down beside the settlement: whose free allowance it was, and why a claim was given back.
import { createSecretKey } from 'node:crypto'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { chargeOf } from '../../support/no-gate.ts'
import type { Config } from '../../../src/core/config.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { createFacilitator, type FacilitatorParts } from '../../../src/payments/facilitator.ts'
import type { Settlements } from '../../../src/payments/ports.ts'
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

function open(allowance: number, settle: Settlements['settle']) {
  const claims: PaymentClaim[] = []
  const holders: string[] = []
  const canceled: { id: string; reason: string }[] = []
  const store: Store = {
    ...temp.store,
    async claimPayment(input) {
      const claimed = await temp.store.claimPayment(input)
      if (claimed.ok) claims.push(claimed.claim)
      return claimed
    },
    takeSettlement(input) {
      holders.push(input.holder)
      return temp.store.takeSettlement(input)
    },
    cancelClaim(input) {
      canceled.push({ id: input.id, reason: input.reason })
      return temp.store.cancelClaim(input)
    },
  }
  const facilitator = createFacilitator({
    config: { settleFreeAllowance: allowance } as Config,
    store,
    networks,
    verifier: { verify: async () => ({ ok: true, payer: buyer.address }) },
    router: { routes: async () => [{ id: 'local' }] } as unknown as FacilitatorParts['router'],
    settlements: { settle, reconcileOne: async (claim: PaymentClaim) => claim } as unknown as Settlements,
    presentations: createPresentations(createSecretKey(Buffer.alloc(32, 1))),
    creditsRequired: async () => new GatewayError('credits_required', 'no credits'),
    baseUrl: 'https://gw.example.com',
    bootId: 'boot',
    now: Date.now,
    log,
    fault: noFault,
  })
  const ask = async (payTo: string) => {
    const requirements = toRequirements({ network: sepolia, amountAtomic: 1000n, payTo })
    const paymentPayload = await signPayment({ account: buyer, requirements })
    const body = { x402Version: 2, paymentPayload, paymentRequirements: requirements }
    return facilitator.settle(body as never, { kind: 'anonymous' } as never, chargeOf())
  }
  return {
    ask,
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
    expect(new Set(holders)).toEqual(new Set([`${sepolia.network}:${SELLER.toLowerCase()}`]))
  },
)

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
