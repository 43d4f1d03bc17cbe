import type { Addresses } from '../doors/http.ts'
import type { Logger } from '../log.ts'
import type { Egress, Signer } from '../services.ts'
import type { DocumentStore, Store } from '../store/ports.ts'
import type { AddressPolicy } from './address.ts'
import type { Fault } from '../fault.ts'
import type { Resolver, Sender, Vault } from './ports.ts'
import type { Authority } from './adapters/authority.ts'

export interface EgressParts {
  readonly store: Store
  readonly documents: DocumentStore
  readonly resolver: Resolver
  readonly sender: Sender
  readonly vault: Vault
  readonly authority: Authority
  readonly policy: AddressPolicy
  readonly signer: Signer
  readonly addresses: Addresses
  readonly egressPorts: readonly number[]
  readonly bootId: string
  readonly now: () => number
  readonly log: Logger
  readonly fault: Fault
}

export function createEgress(_parts: EgressParts): Egress & { recover(): Promise<void> } {
  throw new Error('being written')
}
