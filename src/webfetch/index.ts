// Paid fetch of one public HTTPS URL: shapes, quote, preflight, the fetch.
import type { Config } from '../config.ts'
import type { AddressPolicy } from '../egress/address.ts'
import type { Resolver, Sender } from '../egress/ports.ts'
import type { Networks, Router } from '../payments/ports.ts'
import type { Signer, WebFetch } from '../services.ts'
import type { Store } from '../store/ports.ts'
import { stub } from '../payments/stub.ts'

export interface WebFetchParts {
  readonly config: Config
  readonly networks: Networks
  readonly router: Router
  readonly payTo: string | undefined
  readonly resolver: Resolver
  readonly sender: Sender
  readonly policy: AddressPolicy
  readonly signer: Signer
  /** Reads our own quotes back. */
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly store: Pick<Store, 'saveQuote'>
  readonly baseUrl: string
  readonly now: () => number
}

export function createWebFetch(_parts: WebFetchParts): WebFetch {
  return stub('createWebFetch')
}
