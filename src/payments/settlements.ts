// One settle per claim, and what becomes of it.
import type { Fault } from '../fault.ts'
import type { Logger } from '../log.ts'
import type { Signer } from '../services.ts'
import type { Store } from '../store/ports.ts'
import type { Chain, Networks, Router, Settlements } from './ports.ts'
import { stub } from './stub.ts'

export interface SettlementParts {
  readonly store: Store
  readonly router: Router
  readonly networks: Networks
  readonly chains: ReadonlyMap<string, Chain>
  readonly signer: Signer
  readonly baseUrl: string
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

export function createSettlements(_parts: SettlementParts): Settlements {
  return stub('createSettlements')
}
