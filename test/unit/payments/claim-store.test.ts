// How a claim that failed is told: in our words for reasons that we know, by its stable word for those of others.
import { describe, expect, it } from 'vitest'
import { createLogger } from '../../../src/lib/log.ts'
import { createClaimStore, type ClaimStoreParts, failure } from '../../../src/payments/claim-store.ts'
import { REVERTED } from '../../../src/payments/decision-table.ts'
import type { PaymentClaim } from '../../../src/store/ports.ts'
import { newClaim } from '../../support/store.ts'

const failed = (reason: string | null): PaymentClaim => ({
  ...newClaim({}),
  state: 'failed',
  reason,
  transaction: null,
  upstream: null,
  resultSha256: null,
  receiptId: null,
  submittedAt: null,
  finishedAt: 1,
})

it.each<[reason: string | null, told: string]>([
  ['authorization_expired', 'The authorization expired before it was settled.'],
  [
    'invalid_exact_evm_payload_authorization_valid_before',
    'The authorization would have expired before it was in a block, so it was not sent.',
  ],
  ['of_some_facilitator', 'The payment could not be settled: of_some_facilitator.'],
  [null, 'The payment could not be settled: unexpected_settle_error.'],
  // Names that every object has: a facilitator may say any word.
  ['constructor', 'The payment could not be settled: constructor.'],
  ['valueOf', 'The payment could not be settled: valueOf.'],
  ['__proto__', 'The payment could not be settled: __proto__.'],
])('a claim that failed for %j says: %s', (reason, told) => {
  expect(failure(failed(reason)).message).toBe(
    `${told} Nothing was charged. Sign a new payment and try again.`,
  )
})

it('a claim that may still settle says so, and how to rule it out', () => {
  const { message } = failure({ ...failed('insufficient_funds'), finishedAt: null })
  expect(message).toMatch(
    /^The payer does not have enough of the asset\. Nothing was charged\. Sign a new payment/,
  )
  expect(message).toContain('Should this one be settled after all before it expires')
  expect(message).toContain('cancelAuthorization rules that out')
})

describe('who is to blame for an ending', () => {
  /** What the payer is told to have lost, by these endings of a claim that was sent. */
  async function blame(...endings: readonly (readonly ['unknown' | 'failed', string])[]) {
    let claim: PaymentClaim = { ...failed(null), state: 'submitted', finishedAt: null }
    let losses = 0
    const claims = createClaimStore({
      store: {
        moveClaim: async ({ to, reason }: { to: PaymentClaim['state']; reason: string }) =>
          (claim = { ...claim, state: to, reason }),
      },
      losses: { lost: () => void losses++, paid: () => {} },
      now: () => 1,
      log: createLogger('silent'),
    } as unknown as ClaimStoreParts)
    for (const [to, reason] of endings)
      await (to === 'failed'
        ? claims.failed(claim, reason)
        : claims.doubtful(claim, to, { reason, transaction: null }))
    return losses
  }

  it.each([
    'authorization_canceled',
    'authorization_used_otherwise',
    'insufficient_funds',
    'invalid_exact_evm_insufficient_balance',
    'invalid_exact_evm_nonce_already_used',
  ])('the payer, for %s', async (reason) => {
    expect(await blame(['failed', reason])).toBe(1)
  })

  it.each([
    'invalid_exact_evm_payload_authorization_valid_before',
    'invalid_exact_evm_transaction_simulation_failed',
    'authorization_expired',
    'settlement_refused',
  ])('nobody, for %s', async (reason) => {
    expect(await blame(['failed', reason])).toBe(0)
  })

  it('the payer, once, for a transaction that reverted and an authorization that ends later', async () => {
    expect(await blame(['unknown', REVERTED])).toBe(1)
    expect(await blame(['unknown', REVERTED], ['failed', 'authorization_expired'])).toBe(1)
    expect(await blame(['unknown', REVERTED], ['failed', 'insufficient_funds'])).toBe(1)
  })

  it('the payer for one that failed as it reverted, unless it only came too late', async () => {
    const failedAs = async (reason: string) => {
      let losses = 0
      const claim = { ...failed(REVERTED), state: 'submitted' as const, origin: 'tool' as const }
      await createClaimStore({
        store: { moveClaim: async () => ({ ...claim, state: 'failed' as const, reason }) },
        losses: { lost: () => void losses++, paid: () => {} },
        now: () => 1,
        log: createLogger('silent'),
      } as unknown as ClaimStoreParts).failed(claim, reason)
      return losses
    }
    expect(
      await Promise.all(['insufficient_funds', REVERTED, 'authorization_expired'].map(failedAs)),
    ).toEqual([1, 1, 0])
  })
})
