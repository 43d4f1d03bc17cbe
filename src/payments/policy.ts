// The operator's rules about money: payers and payees that are not served, and a switch that stops every payment at once.
import { z } from 'zod'
import { createDocumentReader } from '../core/document-reader.ts'
import type { DocumentKind, DocumentStore } from '../store/ports.ts'

const PaymentPolicyDocument = z.strictObject({
  /** Addresses, in any spelling. */
  denied_payers: z.array(z.string().min(1).max(128)).max(100_000).default([]),
  denied_payees: z.array(z.string().min(1).max(128)).max(100_000).default([]),
  /** Who may be paid through /settle without a service key, where the operator lets only these (GATEWAY_SETTLE_WITHOUT_KEY). */
  known_payees: z.array(z.string().min(1).max(128)).max(100_000).default([]),
  /** True: every payment is refused with 503 until it is false again. */
  paused: z.boolean().default(false),
})
export type PaymentPolicyDocument = z.infer<typeof PaymentPolicyDocument>

export const paymentPolicyDocument: DocumentKind<PaymentPolicyDocument> = {
  name: 'payment-policy',
  parse: (value) => PaymentPolicyDocument.parse(value),
  initial: { denied_payers: [], denied_payees: [], known_payees: [], paused: false },
}

export interface PaymentPolicy {
  readonly isPaused: boolean
  isDeniedPayer(address: string): boolean
  isDeniedPayee(address: string): boolean
  isKnownPayee(address: string): boolean
}

/** Addresses of EVM chains are the same in any case; those of other chains are not. */
const normalise = (address: string) => (/^0x[\da-f]{40}$/i.test(address) ? address.toLowerCase() : address)

/** The operator's document, ready to be asked; addresses are compared in any case where they are EVM's. */
export function toPolicy(document: PaymentPolicyDocument): PaymentPolicy {
  const payers = new Set(document.denied_payers.map(normalise))
  const payees = new Set(document.denied_payees.map(normalise))
  const known = new Set(document.known_payees.map(normalise))
  return {
    isPaused: document.paused,
    isDeniedPayer: (address) => payers.has(normalise(address)),
    isDeniedPayee: (address) => payees.has(normalise(address)),
    isKnownPayee: (address) => known.has(normalise(address)),
  }
}

/**
 * @returns the policy of now, or of a quarter of a second ago; rejects where it could not be read, which refuses the payment
 */
export const createPaymentPolicyReader = (
  documents: Pick<DocumentStore, 'read'>,
  report: (problem: string) => void,
  now: () => number,
): (() => Promise<PaymentPolicy>) =>
  createDocumentReader({ documents, kind: paymentPolicyDocument, toValue: toPolicy, report, now })
