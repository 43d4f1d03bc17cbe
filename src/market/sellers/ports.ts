// What sellers and the operator do on the market, and what that needs of the world. Types only.
import type {
  ListingEdit,
  OwnHost,
  OwnListing,
  OwnSeller,
  RouteCheck,
} from '../../../schemas/market-seller.ts'
import type { Operator, Seller as SellerCaller } from '../../core/caller.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Page, PageRequest } from '../../store/model.ts'
import type { ListingDocument, ListingRoute, MarketEvent } from '../../store/ports.ts'

/** The holder of a key that may act for a seller. */
export type SellerKey = SellerCaller | Operator

export interface NewSeller {
  readonly seller: string
  readonly name: string
  readonly description: string
  readonly payout_address: string
  readonly contact: string | null
  readonly webhook_url: string | null
}

export type SellerEdit = { readonly [K in keyof Omit<NewSeller, 'seller'>]?: NewSeller[K] | undefined } & {
  readonly ownership_proofs?: readonly string[] | undefined
}

export interface Registered {
  readonly seller: OwnSeller
  /** Shown once; null where an operator's own account registered. */
  readonly key: Secret<string> | null
}

export interface HostVerified {
  readonly proven: boolean
  readonly host: OwnHost
  /** What is missing, and what each look found. */
  readonly problems: readonly string[]
  readonly resumed: number
}

export type ListingStep = 'submit' | 'pause' | 'resume' | 'retire'
export type Decision = 'approve' | 'suspend' | 'reinstate'

/** Registration, hosts, listings and moderation. Every method throws {GatewayError}s that say what to do next. */
export interface Sellers {
  register(input: NewSeller, by: { accountId: string | undefined; address: string }): Promise<Registered>
  state(key: SellerKey): Promise<{ seller: OwnSeller; hosts: OwnHost[]; listings: OwnListing[] }>
  edit(key: SellerKey, edit: SellerEdit): Promise<OwnSeller>
  replaceKey(key: SellerKey): Promise<{ keyId: string; token: Secret<string> }>
  /** A new key for whoever signs as the payout account; every other seller key of it ends. `signedAt` is in the text that is signed. */
  recover(
    sellerId: string,
    proof: { signedAt: number; signature: string },
  ): Promise<{ keyId: string; token: Secret<string> }>
  profile(sellerId: string): Promise<PublicSeller>
  claimHost(key: SellerKey, origin: string): Promise<OwnHost>
  verifyHost(key: SellerKey, origin: string, proofs: readonly string[]): Promise<HostVerified>
  create(key: SellerKey, serviceId: string, listing: ListingEdit): Promise<OwnListing>
  update(key: SellerKey, serviceId: string, edit: ListingEdit): Promise<OwnListing>
  step(key: SellerKey, serviceId: string, step: ListingStep, reason: string | undefined): Promise<OwnListing>
  check(key: SellerKey, serviceId: string): Promise<{ ok: boolean; routes: RouteCheck[] }>
  setCredential(
    key: SellerKey,
    serviceId: string,
    given: { secret: Secret<string>; header?: string | undefined; scheme?: string | undefined } | null,
  ): Promise<OwnListing>
  import(key: SellerKey, request: ImportRequest): Promise<ImportReport>
  events(key: SellerKey, page: PageRequest): Promise<Page<MarketEvent>>
  queue(limit: number): Promise<OwnListing[]>
  decide(
    target: { seller: string; serviceId?: string | undefined; version?: number | undefined },
    decision: Decision,
    reason: string,
  ): Promise<void>
}

export interface PublicSeller {
  readonly seller: string
  readonly name: string
  readonly description: string
  readonly payout_address: string
  readonly state: 'active' | 'suspended'
  readonly proven_hosts: readonly { host: string; method: string; proven_at: string }[]
  readonly services: readonly string[]
  readonly created_at: string
}

export interface ImportRequest {
  readonly service_id: string
  readonly origin: string
  readonly url?: string | undefined
  readonly document?: unknown
  readonly default_price_atomic?: string | undefined
  readonly overrides: Omit<ListingEdit, 'origin' | 'routes'>
}

export interface ImportReport {
  readonly listing: OwnListing
  readonly imported: readonly string[]
  readonly skipped: readonly { operation: string; reason: string }[]
  readonly notes: readonly string[]
}

// what it needs ------------------------------------------------------------------------------------------------------

/** Reads a small public text over HTTPS, without following redirects. Never throws. */
export type ReadPublic = (url: string, limits: { timeoutMs: number; maxBytes: number }) => Promise<PublicRead>
export type PublicRead =
  | { readonly ok: true; readonly status: number; readonly text: string; readonly isCut: boolean }
  /** `blocked`: the operator, or an address that is not public; `failed`: nothing is known of what is there. */
  | { readonly ok: false; readonly kind: 'blocked' | 'failed'; readonly reason: string }

/** Puts the example of a route to the upstream, and judges the answer as a paid call would be. Never throws. */
export type TryRoute = (asked: {
  readonly sellerId: string
  readonly accountId: string
  readonly document: ListingDocument
  readonly route: ListingRoute
}) => Promise<{
  readonly ok: boolean
  readonly status: number | null
  readonly durationMs: number | null
  readonly problem: string | null
}>
