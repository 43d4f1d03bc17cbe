// POST /verify, POST /settle and what describes them.
import type { Config } from '../config.ts'
import type { Facilitator } from '../services.ts'
import type { Store } from '../store/ports.ts'
import type { Networks, Router, Settlements, Verifier } from './ports.ts'
import { stub } from './stub.ts'

export interface FacilitatorParts {
  readonly config: Config
  readonly store: Store
  readonly networks: Networks
  readonly verifier: Verifier
  readonly router: Router
  readonly settlements: Settlements
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
}

export function createFacilitator(_parts: FacilitatorParts): Facilitator {
  return stub('createFacilitator')
}
