// x402 resources of configured catalogues and our own.
import type { Config } from '../config.ts'
import type { Resolver, Sender } from '../egress/ports.ts'
import type { AddressPolicy } from '../egress/address.ts'
import type { Logger } from '../log.ts'
import type { Registry } from '../registry.ts'
import type { Discovery } from '../services.ts'
import type { Store } from '../store/ports.ts'
import { stub } from '../payments/stub.ts'

export interface DiscoveryParts {
  readonly config: Config
  readonly registry: Registry
  readonly store: Store
  readonly resolver: Resolver
  readonly sender: Sender
  readonly policy: AddressPolicy
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly now: () => number
  readonly log: Logger
}

export function createDiscovery(_parts: DiscoveryParts): Discovery & { close(): Promise<void> } {
  return stub('createDiscovery')
}
