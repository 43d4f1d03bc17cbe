// How a claim that failed is told: in our words for reasons that we know, by its stable word for those of others.
import { expect, it } from 'vitest'
import { failure } from '../../../src/payments/claim-store.ts'
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
