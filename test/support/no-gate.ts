// For doors under test with tools that are not paid.
import type { PaymentGate } from '../../src/core/charging.ts'
import { createCreditCharge, type CreditCharge } from '../../src/core/credit-charge.ts'

export const noGate: PaymentGate = {
  run: () => Promise.reject(new Error('no tool of this test is paid')),
  claim: () => Promise.reject(new Error('no tool of this test is paid')),
  outcome: () => Promise.reject(new Error('no tool of this test is paid')),
}

/** The same for credits, with the clock that a call path needs. */
export const noCredits = {
  store: {
    debitCredits: () => Promise.reject(new Error('no tool of this test costs credits')),
    refundCredits: () => Promise.reject(new Error('no tool of this test costs credits')),
  },
  creditsRequired: () => Promise.reject(new Error('no tool of this test costs credits')),
  elapsedMs: () => performance.now(),
}

/** For an engine that is called without a call path. */
export const chargeOf = (credits = 1): CreditCharge =>
  createCreditCharge({ kind: 'credits', credits, taken: 'allowance' })
