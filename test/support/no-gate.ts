// For doors under test with tools that are not paid.
import type { PaymentGate, SignCallReceipt } from '../../src/core/charging.ts'
import { createCreditCharge, type CreditCharge } from '../../src/core/credit-charge.ts'

export const noGate: PaymentGate = {
  run: () => Promise.reject(new Error('no tool of this test is paid')),
  claim: () => Promise.reject(new Error('no tool of this test is paid')),
  outcome: () => Promise.reject(new Error('no tool of this test is paid')),
}

/** A receipt whose signature is what it says. */
export const signCallReceipt: SignCallReceipt = (call) => {
  const jws = JSON.stringify(call)
  return {
    stored: { id: 'rcp_1', accountId: call.accountId, jws, createdAt: 0 },
    shown: { receipt_id: 'rcp_1', url: 'https://gateway.example/v1/receipts/rcp_1', jws },
  }
}

const noDebit = () => Promise.reject(new Error('no tool of this test costs credits'))

/** The same for credits, with the clock that a call path needs. */
export const noCredits = {
  debits: { take: noDebit, settle: noDebit, giveBack: noDebit, recover: noDebit },
  creditsRequired: noDebit,
  elapsedMs: () => performance.now(),
}

/** For an engine that is called without a call path. */
export const chargeOf = (credits = 1): CreditCharge =>
  createCreditCharge({ kind: 'credits', credits, taken: 'allowance' })
