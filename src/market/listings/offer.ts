// A service as it is offered, ours or a seller's: everything that its public shape is made of, without figures.
import type { FeeTerms, Listing, ListingDocument, Sale, Seller } from '../../store/ports.ts'
import { OWN_FEE, OWN_LISTING, OWN_NOTE, OWN_PAYOUT_MODE } from '../own-listing.ts'

export interface Offer {
  readonly isOurs: boolean
  readonly sellerId: string
  readonly serviceId: string
  readonly version: number
  readonly document: Omit<ListingDocument, 'origin' | 'basePath' | 'credentialId'>
  readonly state: Listing['state']
  readonly stateReason: string | null
  readonly fee: FeeTerms
  readonly payoutMode: Sale['payoutMode']
  /** Account address; empty where nobody is paid at all. */
  readonly payoutDestination: string
  readonly proof: Proof | null
  /** Words of this gateway about it. */
  readonly notes: readonly string[]
  readonly createdAt: number | null
}

/** How and when a seller showed that a host is theirs. */
export interface Proof {
  readonly host: string
  readonly method: string
  readonly provenAt: number
}

/** @param payTo undefined where nobody is paid: it is listed, and cannot be bought */
export function ownOffer(payTo: string | undefined): Offer {
  return {
    isOurs: true,
    ...OWN_LISTING,
    state: 'active',
    stateReason: payTo === undefined ? 'No payment is taken by this gateway.' : null,
    fee: OWN_FEE,
    payoutMode: OWN_PAYOUT_MODE,
    payoutDestination: payTo ?? '',
    proof: null,
    notes: [OWN_NOTE],
    createdAt: null,
  }
}

/** @param about.fee as the operator has it now; an offer that is open keeps its own */
export function offerOf(
  { sellerId, serviceId, version, document, state, stateReason, createdAt }: Listing,
  { seller, fee, proof }: { readonly seller: Seller; readonly fee: FeeTerms; readonly proof: Proof | null },
): Offer {
  const isSuspended = seller.state === 'suspended'
  return {
    isOurs: false,
    sellerId,
    serviceId,
    version,
    document,
    state: isSuspended && state !== 'retired' ? 'suspended' : state,
    stateReason: isSuspended ? (seller.stateReason ?? 'The seller is suspended.') : stateReason,
    fee,
    payoutMode: 'batched_onchain',
    payoutDestination: seller.payoutAddress,
    proof,
    notes: [],
    createdAt,
  }
}

/** Why it cannot be called for test money, though it is sold; null where it can. */
export const whyNotTested = ({ document }: Offer): string | null =>
  document.takesTestMoney === true ? null : 'Its seller takes no test money for it.'

/** A seller's own reason, or that of the operator, keeps it from being sold; a free moment does not. */
export const isSold = ({ state, stateReason, isOurs }: Offer): boolean =>
  state === 'active' && !(isOurs && stateReason !== null)
