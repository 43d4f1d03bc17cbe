// Copies of payments that are not judged here, sent to /settle: what became of the first one, never "invalid".
import { createSecretKey, randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { chargeOf } from '../../support/no-gate.ts'
import type { Config } from '../../../src/core/config.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { noFault } from '../../../src/lib/fault-points.ts'
import { createLogger } from '../../../src/lib/log.ts'
import { createFacilitator } from '../../../src/payments/facilitator.ts'
import type { Check } from '../../../src/payments/ports.ts'
import { paymentPolicyDocument, toPolicy } from '../../../src/payments/policy.ts'
import { createPresentations } from '../../../src/payments/presentation.ts'
import { createRouter } from '../../../src/payments/router.ts'
import { createSettlements } from '../../../src/payments/settlements.ts'
import { createVerifier } from '../../../src/payments/verify.ts'
import type { Store } from '../../../src/store/ports.ts'
import { exactKind, fakeUpstream, networks, SOLANA } from '../../support/payment-fakes.ts'
import { openTempStore, type TempStore } from '../../support/temp-store.ts'

const anyone = { kind: 'anonymous', id: 'anonymous', address: '192.0.2.1' } as const
let sent = 0
/** Each payment has a transaction of its own. */
const nthTransaction = (n: number) => String(n).padStart(88, '5')
const TERMS = {
  settleFreeAllowance: 100,
  settleKeylessAllowance: 1000,
  settleMinAtomic: 1000n,
  settleWithoutKey: 'anyone',
} as const

let temp: TempStore
beforeAll(async () => {
  temp = await openTempStore()
})
afterAll(() => temp.close())

const accepted = {
  scheme: 'exact',
  network: SOLANA,
  amount: '1000',
  asset: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v',
  payTo: '2wKupLR9q6wXYppw8Gr2NvWxKBUqm4PPJKkQfoxHDBg4',
  maxTimeoutSeconds: 60,
  extra: {},
}
/** One empty signature, then the message. */
const transactionOf = (message: string) =>
  Buffer.concat([Buffer.from([1]), Buffer.alloc(64), Buffer.from(message)]).toString('base64')
const bodyOf = (message: string) => ({
  paymentPayload: { x402Version: 2, accepted, payload: { transaction: transactionOf(message) } },
  paymentRequirements: accepted,
})

function arrange(answer: 'settled' | 'unknown', failing: Partial<Store> = {}) {
  const store = { ...temp.store, ...failing }
  const log = createLogger('silent')
  const now = Date.now
  const upstream = fakeUpstream('solana', {
    kinds: [exactKind(SOLANA)],
    verdict: { ok: true, payer: 'payer' },
    answer: () =>
      answer === 'settled'
        ? { state: 'settled', transaction: nthTransaction(++sent) }
        : { state: 'unknown', reason: 'timeout' },
  })
  const router = createRouter({ upstreams: [upstream], networks, now, log })
  const base = { store, router, networks, now, log, fault: noFault, bootId: randomUUID() }
  const common = { ...base, baseUrl: 'https://gateway.test', wait: async () => {} }
  const chains = new Map()
  const sign = (typ: string, payload: object) =>
    [{ typ }, payload].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.') + '.s'
  const facilitator = createFacilitator({
    ...common,
    config: TERMS as Config,
    readPolicy: async () => toPolicy(paymentPolicyDocument.initial),
    verifier: createVerifier({
      ...base,
      chains,
      documents: { read: async ({ initial }) => ({ value: initial }) },
    }),
    settlements: createSettlements({
      ...common,
      chains,
      signer: { kid: 'k', environment: 'production', sign },
    }),
    presentations: createPresentations(createSecretKey(Buffer.alloc(32, 7))),
    creditsRequired: () => Promise.reject(new Error('not asked for')),
  })
  return { facilitator, upstream }
}

it('is told as settled, with its receipt, and sent once', async () => {
  const { facilitator, upstream } = arrange('settled')
  const body = bodyOf('one')
  const first = await facilitator.settle(body, anyone, chargeOf())
  expect(first).toMatchObject({ success: true, transaction: nthTransaction(sent) })
  await expect(facilitator.settle(body, anyone, chargeOf())).rejects.toMatchObject({
    code: 'settlement_replayed',
    extras: { receipt_id: first.extra!['receipt_id'] },
  })
  expect(upstream.settled).toHaveLength(1)
})

it('is told which receipt by saying what was sold: the payment alone does not say it', async () => {
  const { facilitator } = arrange('settled')
  const { paymentPayload, paymentRequirements } = bodyOf('sold')
  const v1 = {
    x402Version: 1,
    paymentPayload: { x402Version: 1, scheme: 'exact', network: 'solana', payload: paymentPayload.payload },
  }
  const sold = (resource: string) => ({
    ...v1,
    paymentRequirements: {
      ...paymentRequirements,
      network: 'solana',
      maxAmountRequired: paymentRequirements.amount,
      resource,
      description: '',
      mimeType: '',
    },
  })
  const first = await facilitator.settle(sold('https://shop.example/secret-page'), anyone, chargeOf())
  const seller = facilitator.settle(sold('https://shop.example/secret-page'), anyone, chargeOf())
  await expect(seller).rejects.toMatchObject({
    code: 'settlement_replayed',
    extras: { receipt_id: first.extra!['receipt_id'] },
  })
  const stranger = facilitator.settle(sold('https://shop.example/guessed-page'), anyone, chargeOf())
  const refusal: unknown = await stranger.catch((thrown: unknown) => thrown)
  expect(refusal).toMatchObject({ code: 'settlement_replayed' })
  expect(JSON.stringify([refusal, String(refusal)])).not.toContain(first.extra!['receipt_id'])
})

it.each<Check>(['authorization_state', 'balance', 'simulation'])(
  'is told as settled where the first one was settled while the copy was looked at: %s fails then',
  async (check) => {
    const body = bodyOf(`while ${check}`)
    let looks = 0
    const { facilitator, upstream } = arrange('settled', {
      // What the copy sees: no claim, until the chain has said that its payment is used.
      findClaim: async (key) => (++looks <= 2 ? undefined : temp.store.findClaim(key)),
    })
    const first = await arrange('settled').facilitator.settle(body, anyone, chargeOf())
    upstream.verdict = { ok: false, check, reason: 'used', message: 'Used.', isRetryable: false }
    await expect(facilitator.settle(body, anyone, chargeOf())).rejects.toMatchObject({
      code: 'settlement_replayed',
      extras: { claim_id: first.extra!['claim_id'] },
    })
    expect(looks).toBeGreaterThan(2)
    expect(upstream.settled).toHaveLength(0)
  },
)

it('is blocked by the check that failed where there is no other', async () => {
  const { facilitator, upstream } = arrange('settled')
  upstream.verdict = { ok: false, check: 'balance', reason: 'poor', message: 'Poor.', isRetryable: false }
  await expect(facilitator.settle(bodyOf('alone'), anyone, chargeOf())).rejects.toMatchObject({
    code: 'payment_blocked',
    extras: { check: 'balance' },
  })
})

it('is told as not decided while nobody knows: no invitation to sign another', async () => {
  const { facilitator, upstream } = arrange('unknown')
  const body = bodyOf('two')
  for (let copies = 0; copies < 2; copies++)
    await expect(facilitator.settle(body, anyone, chargeOf())).rejects.toMatchObject({
      code: 'settlement_unknown',
    })
  expect(upstream.settled).toHaveLength(1)
})

afterEach(() => {
  vi.useRealTimers()
})

it('gives a payment back as soon as the store can, and says meanwhile why nothing was settled', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const { store } = temp
  let claimId = ''
  let tries = 0
  const broken = () => Promise.reject(new Error('the disk is full'))
  const { facilitator, upstream } = arrange('settled', {
    takeSettlement: (input) => {
      claimId = input.claimId
      return Promise.reject(new GatewayError('credits_required', 'None left.'))
    },
    cancelClaim: (input) => (++tries < 3 ? broken() : store.cancelClaim(input)),
  })
  await expect(facilitator.settle(bodyOf('three'), anyone, chargeOf())).rejects.toMatchObject({
    code: 'credits_required',
  })
  expect((await store.getClaim(claimId))!.state).toBe('claimed')
  await vi.advanceTimersByTimeAsync(1_000)
  await vi.waitFor(() => expect(tries).toBe(2), { timeout: 60_000 })
  await vi.advanceTimersByTimeAsync(5_000)
  await vi.waitFor(async () => expect((await store.getClaim(claimId))!.state).toBe('canceled'), {
    timeout: 60_000,
  })
  expect(upstream.settled).toHaveLength(0)
})
