// The firewall and the verifier.
import type { Store } from '../store/ports.ts'
import type { Chain, Networks, Router, Verifier } from './ports.ts'
import { stub } from './stub.ts'

export interface VerifierParts {
  readonly networks: Networks
  /** By CAIP-2 id. */
  readonly chains: ReadonlyMap<string, Chain>
  readonly store: Pick<Store, 'findClaim'>
  /** For kinds that are not verified here. */
  readonly router: Router
  readonly now: () => number
}

export function createVerifier(_parts: VerifierParts): Verifier {
  return stub('createVerifier')
}
