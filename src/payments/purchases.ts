// Credits bought with x402.
import type { Config } from '../config.ts'
import type { Signer, Purchases } from '../services.ts'
import type { Store } from '../store/ports.ts'
import type { Networks } from './ports.ts'
import { stub } from './stub.ts'

export interface PurchaseParts {
  readonly config: Config
  readonly store: Store
  readonly networks: Networks
  readonly signer: Signer
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly now: () => number
}

export function createPurchases(_parts: PurchaseParts): Purchases {
  return stub('createPurchases')
}
