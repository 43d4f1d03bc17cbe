// The operator's brake on money: payers and payees that are not served, and a switch that stops every payment at once.
import { z } from 'zod'
import type { DocumentKind, DocumentStore } from '../store/ports.ts'

const PaymentPolicyDocument = z.strictObject({
  /** Addresses, in any spelling. */
  denied_payers: z.array(z.string().min(1).max(128)).max(100_000).default([]),
  denied_payees: z.array(z.string().min(1).max(128)).max(100_000).default([]),
  /** True: every payment is refused with 503 until it is false again. */
  paused: z.boolean().default(false),
})
export type PaymentPolicyDocument = z.infer<typeof PaymentPolicyDocument>

export const paymentPolicyDocument: DocumentKind<PaymentPolicyDocument> = {
  name: 'payment-policy',
  parse: (value) => PaymentPolicyDocument.parse(value),
  initial: { denied_payers: [], denied_payees: [], paused: false },
}

export interface PaymentPolicy {
  readonly isPaused: boolean
  isDeniedPayer(address: string): boolean
  isDeniedPayee(address: string): boolean
}

const FRESH_MS = 250
/** Addresses of EVM chains have no case; others do, and lose nothing by being compared as they are. */
const normalise = (address: string) => (address.startsWith('0x') ? address.toLowerCase() : address)

export function toPolicy(document: PaymentPolicyDocument): PaymentPolicy {
  const payers = new Set(document.denied_payers.map(normalise))
  const payees = new Set(document.denied_payees.map(normalise))
  return {
    isPaused: document.paused,
    isDeniedPayer: (address) => payers.has(normalise(address)),
    isDeniedPayee: (address) => payees.has(normalise(address)),
  }
}

/** The policy as it stands now, or stood a quarter of a second ago: every payment asks, and the document is a file. */
export function createPaymentPolicyReader(
  documents: Pick<DocumentStore, 'read'>,
  report: (problem: string) => void,
  now: () => number,
): () => Promise<PaymentPolicy> {
  let reported: string | undefined
  let reading: Promise<PaymentPolicy> | undefined
  let readAt = 0

  async function read(): Promise<PaymentPolicy> {
    const { value, problem } = await documents.read(paymentPolicyDocument)
    if (problem !== undefined && problem !== reported) report(problem)
    reported = problem
    return toPolicy(value)
  }

  return () => {
    const at = now()
    if (reading !== undefined && at - readAt < FRESH_MS) return reading
    readAt = at
    const started = read()
    reading = started
    // What could not be read is asked again by the next payment, and refuses this one.
    started.catch(() => {
      if (reading === started) reading = undefined
    })
    return started
  }
}
