// For doors under test with tools that are not paid.
import type { PaymentGate } from '../../src/core/charging.ts'

export const noGate: PaymentGate = {
  run: () => Promise.reject(new Error('no tool of this test is paid')),
  claim: () => Promise.reject(new Error('no tool of this test is paid')),
  outcome: () => Promise.reject(new Error('no tool of this test is paid')),
}
