// The market as rows: sellers, what they offer, what was sold, what is owed. Words are the seller's own; counts never are.
import type { Millis } from '../model.ts'

/** Slug: 3 to 40 of `a-z0-9-`, no hyphen at either end. Lasts for ever: receipts name it. */
export type SellerId = string
/** Slug, unique for its seller. */
export type ServiceId = string

export type SellerState = 'active' | 'suspended'

export interface Seller {
  readonly id: SellerId
  /** Account of the gateway whose keys act for it, and whose credentials its listings may use. */
  readonly accountId: string
  readonly name: string
  readonly description: string
  /** Where payouts go: lower-case address. */
  readonly payoutAddress: string
  readonly contact: string | null
  /** Where signed events are sent. */
  readonly webhookUrl: string | null
  readonly state: SellerState
  /** The operator's words, which the seller sees. */
  readonly stateReason: string | null
  /** 1 at registration, one more with each edit. */
  readonly version: number
  readonly createdAt: Millis
  readonly updatedAt: Millis
}

/**
 * `draft`: not offered yet (test money is taken); `pending`: waits for the operator; `active`: sold;
 * `paused`: by its seller, or by the gateway when its proof is gone (the reason says so); `suspended`: by the operator; `retired`: for ever.
 */
export type ListingState = 'draft' | 'pending' | 'active' | 'paused' | 'suspended' | 'retired'

/** One route below `/p/{seller}/{service_id}`. */
export interface ListingRoute {
  /** OpenAPI style with a leading slash, `/` or `/quotes/{symbol}`: no dot segment, no encoded slash. */
  readonly path: string
  readonly method: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly summary: string
  /** Atomic units as decimal text. */
  readonly priceAtomic: string
  /** JSON Schema 2020-12 of query and path parameters, as one object. Null: no query is taken. */
  readonly inputSchema: Readonly<Record<string, unknown>> | null
  /** JSON Schema of the JSON body; null: no body is taken. */
  readonly bodySchema: Readonly<Record<string, unknown>> | null
  /** JSON Schema of the answer; null: any 2xx that is not an error page counts. */
  readonly outputSchema: Readonly<Record<string, unknown>> | null
  /** A request that works: the upstream was tried with it before the listing went live. */
  readonly example: { readonly query?: Readonly<Record<string, unknown>>; readonly body?: unknown } | null
  readonly timeoutMs: number
  /** Bytes of the upstream's answer, at most 1 MiB. */
  readonly maxResponseBytes: number
}

/** What a seller says of a service, whole: every change of it is a version. */
export interface ListingDocument {
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  /** `https://host` or with a port that egress allows: proven to be the seller's. */
  readonly origin: string
  /** Put before each route's path on the way to the upstream; '' or `/v2`. */
  readonly basePath: string
  readonly routes: readonly ListingRoute[]
  /** Calls of all buyers together. */
  readonly maxRequestsPerMinute: number
  /** Credential of the seller's account that goes along to the upstream; never shown. */
  readonly credentialId: string | null
  readonly refundPolicy: string | null
  readonly termsUrl: string | null
  /**
   * Whether it answers for test money while it is sold, as drafts do. Its answers are the real ones, and test money is free: that is the
   * seller's to allow. Missing in documents of before: false.
   */
  readonly takesTestMoney?: boolean | undefined
}

export interface Listing {
  readonly sellerId: SellerId
  readonly serviceId: ServiceId
  readonly version: number
  readonly document: ListingDocument
  readonly state: ListingState
  readonly stateReason: string | null
  /** Set while it is paused. What lost its proof is resumed when the proof is back, and nothing else is. */
  readonly pausedBy: 'seller' | 'proof' | null
  /** When the operator (or the settings) let it be sold for the first time. */
  readonly approvedAt: Millis | null
  /** The version whose example the upstream answered last, and when. */
  readonly checkedVersion: number | null
  readonly checkedAt: Millis | null
  readonly createdAt: Millis
  readonly updatedAt: Millis
}

/** A document of a listing as it once was; the price history is read from these. */
export interface ListingVersion {
  readonly version: number
  readonly document: ListingDocument
  readonly createdAt: Millis
  /** Whether anybody could buy it: no version of a draft is an offer. */
  readonly isOffered: boolean
}

/** `claimed`: not proven yet; `lapsed`: was proven, and the proof is gone or another seller has proven the host since. */
export type HostState = 'claimed' | 'proven' | 'lapsed'

/** A host that a seller says is its own. Only one seller at a time has it proven: the first. */
export interface MarketHost {
  readonly sellerId: SellerId
  /** Canonical, with the port where it is not 443: `api.example.com`. */
  readonly host: string
  /** Random text that the host has to show. */
  readonly challenge: string
  readonly state: HostState
  readonly method: 'dns' | 'well_known' | null
  readonly signatureKind: 'eip191' | 'erc1271' | null
  /** Signature of the origin by `payoutAddress`, as 0x hex. */
  readonly signature: string | null
  /** The address that signed; money of this host goes nowhere else. */
  readonly payoutAddress: string | null
  /** Looks in a row that could not tell, since when, and why the last one failed. */
  readonly failures: number
  readonly failingSince: Millis | null
  readonly problem: string | null
  readonly provenAt: Millis | null
  readonly checkedAt: Millis | null
  readonly createdAt: Millis
}

/** Something that a seller is told, in the words of Standard Webhooks; kept until it is delivered or given up. */
export interface MarketEvent {
  readonly id: string
  readonly sellerId: SellerId
  /** `listing.paused`, `payout.settled` … */
  readonly type: string
  readonly data: Readonly<Record<string, unknown>>
  readonly state: 'pending' | 'sent' | 'dropped'
  readonly tries: number
  readonly nextAt: Millis
  readonly problem: string | null
  readonly createdAt: Millis
  readonly finishedAt: Millis | null
}
/** An event as the change that causes it hands it over. */
export type NewMarketEvent = Pick<MarketEvent, 'id' | 'type' | 'data'>

/** The platform's share of a sale, frozen in the offer. */
export interface FeeTerms {
  readonly bps: number
  /** Atomic units. */
  readonly fixedAtomic: number
  readonly minimumAtomic: number
}

/** The terms under which a claim buys from a listing; a member of the terms of its 402, and a row beside its claim. */
export interface Sale {
  readonly sellerId: SellerId
  readonly serviceId: ServiceId
  readonly listingVersion: number
  /** `GET /quotes/{symbol}`. */
  readonly route: string
  readonly fee: FeeTerms
  /** Atomic units as decimal text; fee and proceeds sum to the amount of the claim. */
  readonly feeAtomic: string
  readonly proceedsAtomic: string
  /** `batched_onchain`: owed until it is paid out; `same_owner_retained`: ours. */
  readonly payoutMode: 'batched_onchain' | 'same_owner_retained'
}

/** Test money counts apart from live money. */
export type MarketEnvironment = 'live' | 'test'
/** Ways in which a service fails a call that was paid for. Nothing is charged then. */
export type ServiceFailure = 'unreachable' | 'timeout' | 'status' | 'answer' | 'schema'
/**
 * Reason why a payer's calls are shown and not counted. `self`: an address of the seller; `funded`: the seller's addresses funded it;
 * `ring`: one of many payers of the service that one wallet funded.
 */
export type PayerExclusion = 'self' | 'funded' | 'ring'

export interface ServiceRef {
  readonly sellerId: SellerId
  readonly serviceId: ServiceId
  readonly environment: MarketEnvironment
}

/** One call of a service, as it ended; or a refund of one, or our own look at the service. */
export type ServiceOutcome = ServiceRef & { readonly at: Millis } & (
    | {
        readonly kind: 'settled'
        /** Of the sale: it is counted once, whoever counts it. */
        readonly claimId: string
        /** Lower-case address. */
        readonly payer: string
        /** Atomic units. */
        readonly amount: number
        /** From the request to the upstream to the last byte of its answer; null where the process that knew it died. */
        readonly latencyMs: number | null
        /** Known at once: the payer is an address of the seller. */
        readonly isSelf: boolean
      }
    | { readonly kind: ServiceFailure }
    | { readonly kind: 'refunded'; readonly amount: number }
    | { readonly kind: 'up' | 'down' }
  )

/** Payers of one exclusion, with what they paid. */
export interface ExcludedPayers {
  readonly payers: number
  readonly calls: number
  /** Atomic units. */
  readonly volume: number
}

/** Counted since the listing began; payers that are excluded are in none of the first four. */
export interface ServiceStanding extends ServiceRef {
  readonly settled: number
  readonly volume: number
  readonly payers: number
  readonly repeatPayers: number
  readonly excluded: Readonly<Record<PayerExclusion, ExcludedPayers>>
  readonly ratings: number
  readonly ratingSum: number
  readonly challengeScore: number | null
  readonly probedAt: Millis
  readonly changedAt: Millis
}

/** A day, or several together. Every paid call counts, excluded payers' too. */
export interface ServiceDays {
  readonly settled: number
  readonly volume: number
  readonly failures: Readonly<Record<ServiceFailure, number>>
  readonly refunds: number
  readonly refunded: number
  readonly probesUp: number
  readonly probesDown: number
  /** Settled calls by latency, in the buckets of LATENCY_BOUNDS_MS. */
  readonly latencies: readonly number[]
}

export interface ServiceDay extends ServiceDays {
  /** Days since the epoch, in UTC. */
  readonly day: number
}

/** A day of all services of a seller together. Every paid call counts, excluded payers' too. */
export interface SellerDay extends Pick<ServiceDays, 'settled' | 'volume' | 'refunds' | 'refunded'> {
  /** Days since the epoch, in UTC. */
  readonly day: number
  /** Calls that came with a payment and were not charged. */
  readonly failed: number
}

/** What payers paid together, excluded ones left out. */
export interface PayerShares {
  readonly payers: number
  /** Those that paid more than once. */
  readonly repeating: number
  readonly calls: number
  /** Atomic units. */
  readonly volume: number
  /** Atomic units of the one that paid most. */
  readonly largestVolume: number
}

/** A payer of any service whose funders nobody has looked up since it paid last. */
export interface UncheckedPayer {
  readonly payer: string
  readonly sellerIds: readonly SellerId[]
  /** Atomic units that it paid all of them. */
  readonly paid: number
}

export interface Funder {
  readonly payer: string
  readonly funder: string
  readonly block: number
  readonly transactionHash: string
}

export interface Rating {
  readonly claimId: string
  readonly sellerId: SellerId
  readonly serviceId: ServiceId
  readonly payer: string
  readonly rating: number
  /** The buyer's words, cleaned. */
  readonly words: string | null
  /** False for those of excluded payers. */
  readonly isCounted: boolean
  readonly createdAt: Millis
}

/** A host that was proven, with the last look at its proof. */
export interface HostProofRow {
  readonly sellerId: SellerId
  readonly host: string
  readonly method: string
  readonly provenAt: Millis
  readonly checkedAt: Millis
  readonly payoutAddress: string | null
}

/** One paid call, as anybody may see it: the transaction says who paid whom. */
export interface ServiceSale {
  readonly claimId: string
  readonly route: string
  readonly listingVersion: number
  /** Atomic units. */
  readonly amount: number
  readonly transaction: string | null
  readonly settledAt: Millis | null
  readonly exclusion: PayerExclusion | null
}
