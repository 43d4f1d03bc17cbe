// The payment gate inside the call path: challenge, or claim, work, settle, release.
import type { Fault } from '../fault.ts'
import type { Logger } from '../log.ts'
import type { Signer } from '../services.ts'
import type { Store } from '../store/ports.ts'
import type { Networks, PaymentGate, Settlements, Verifier } from './ports.ts'
import { stub } from './stub.ts'

export interface GateParts {
  readonly store: Store
  readonly networks: Networks
  readonly verifier: Verifier
  readonly settlements: Settlements
  readonly signer: Signer
  /** Who is paid; undefined until the operator says (production): then paid tools are not available. */
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

export function createPaymentGate(_parts: GateParts): PaymentGate {
  return stub('createPaymentGate')
}
