// The interfaces between the parts of a market call. Types only.
//
//   door or tool -> asked call -> listing (memory) -> route -> limits -> terms of the offer that is paid
//                -> gate: challenge, or stored answer, or check (input) -> claim with its sale -> work -> settle
//   work: own job in this process, or one request to the seller's host -> judged answer, or a failure that is never charged
import type { Progress } from '../../core/progress.ts'
import type { MarketNetwork } from '../../../schemas/market.ts'
import type { MarketCallResult } from '../../../schemas/market-call.ts'
import type { PresentedPayment, Terms } from '../../core/charging.ts'
import type { Caller } from '../../core/caller.ts'
import type { HttpMessage } from '../../core/message.ts'
import type { FeeTerms, ListingDocument, ListingRoute, ListingState, Sale } from '../../store/ports.ts'

/** One call as a tool's input has it; a door that passes an HTTP message on gives that instead of query and body. */
export interface AskedCall {
  readonly sellerId: string
  readonly serviceId: string
  readonly network: MarketNetwork
  /** Undefined: that of the only route at this path. */
  readonly method: string | undefined
  /** Below the service, raw, with its leading slash. */
  readonly path: string
  readonly query: Readonly<Record<string, unknown>>
  /** JSON; undefined where there is none. */
  readonly body: unknown
}

export interface CallerFacts {
  readonly caller: Caller
  readonly payment: PresentedPayment | undefined
  readonly message: HttpMessage | undefined
}

/** Paid calls of what is listed. */
export interface MarketCalls {
  /**
   * A call, understood as far as its price: what it takes is judged when it is paid.
   * @throws {GatewayError} service_not_found, not_found, method_not_allowed, service_unavailable, rate_limited, request_invalid
   */
  plan(asked: AskedCall, facts: CallerFacts): Promise<PlannedCall>
}

export interface PlannedCall {
  readonly charge: Terms
  /** @throws {GatewayError} whatever keeps the buyer from an answer; then nothing is charged */
  run(context: {
    readonly claimId: string
    readonly progress?: Progress | undefined
  }): Promise<MarketCallResult>
}

// listings ---------------------------------------------------------------------------------------------------------

/** A document as it was, or is, offered. */
export interface OfferedVersion {
  readonly version: number
  readonly document: Pick<
    ListingDocument,
    | 'name'
    | 'description'
    | 'routes'
    | 'maxRequestsPerMinute'
    | 'origin'
    | 'basePath'
    | 'credentialId'
    | 'takesTestMoney'
  >
}

/** A service as calls know it. */
export interface Sold {
  readonly sellerId: string
  readonly serviceId: string
  /** The account whose credential goes along; null where the work is done here. */
  readonly accountId: string | null
  /** Lower-case address that is paid out to; null where nobody is. */
  readonly payoutAddress: string | null
  readonly payoutMode: Sale['payoutMode']
  readonly state: ListingState
  /** Why it is not sold, in words that a buyer may read. */
  readonly stateReason: string | null
  /** Whether its host is proven to be the seller's: nothing is sent to one that is not, for test money neither. */
  readonly isProven: boolean
  readonly current: OfferedVersion
  /** Superseded ones whose offers may still be open, newest first. */
  readonly earlier: readonly OfferedVersion[]
  /** Fee terms that hold now, and those whose offers may still be open. */
  readonly fees: readonly [FeeTerms, ...FeeTerms[]]
}

export interface Listings {
  /** Answers from memory, which is a second old at most. */
  find(sellerId: string, serviceId: string): Promise<Sold | undefined>
}

/** Work that is done in this process, for a listing of our own. @throws {GatewayError} */
export type OwnWork = (input: Readonly<Record<string, unknown>>) => Promise<unknown>

// the upstream -----------------------------------------------------------------------------------------------------

/** A request that was checked, as it is put to the seller's host. */
export interface UpstreamRequest {
  readonly sold: Sold
  readonly version: OfferedVersion
  readonly route: ListingRoute
  /** Path and query behind the origin. */
  readonly target: string
  readonly body: Buffer | undefined
  readonly claimId: string
  readonly network: string
  readonly amountAtomic: bigint
  /** Pseudonym of the payer: the same for one seller, another for each. */
  readonly payer: string
}

export interface UpstreamAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}
