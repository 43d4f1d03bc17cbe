// What the files of this folder share: their parts, and the questions that each of them begins with.
import { GatewayError } from '../../core/errors.ts'
import type { Addresses } from '../../core/config.ts'
import type { Egress } from '../../egress/ports.ts'
import type { TargetOptions } from '../../egress/target.ts'
import { newId } from '../../lib/ids.ts'
import type { Logger } from '../../lib/log.ts'
import type { Chain } from '../../payments/chain-ports.ts'
import type { Listing, MarketHost, NewMarketEvent, Seller, Store } from '../../store/ports.ts'
import type { MarketSettings } from '../settings.ts'
import { type DocumentRules, hostOf } from './document.ts'
import type { PayoutRules } from './payout-address.ts'
import type { ReadPublic, SellerKey, TryRoute } from './ports.ts'
import type { ProofParts } from './proof.ts'

export interface SellerParts {
  readonly store: Store
  readonly settings: () => Promise<MarketSettings>
  readonly proof: ProofParts
  readonly read: ReadPublic
  readonly tryRoute: TryRoute
  readonly egress: Pick<Egress, 'createCredential' | 'rotateCredential' | 'deleteCredential'>
  readonly payout: PayoutRules
  /** Where payouts are made; undefined where no such chain is known. */
  readonly payoutChain: Pick<Chain, 'acceptsSignature' | 'accountFacts'> | undefined
  readonly target: TargetOptions
  /** The operator switched the limits of requests off. */
  readonly hasNoLimits: boolean
  readonly addresses: Pick<Addresses, 'baseUrl'>
  readonly log: Logger
  readonly now: () => number
}

/** @throws {GatewayError} seller_not_found */
export async function sellerOf({ store }: Pick<SellerParts, 'store'>, key: SellerKey): Promise<Seller> {
  const seller = await store.findSellerOfAccount(key.accountId)
  if (seller) return seller
  throw new GatewayError(
    'seller_not_found',
    'The account of this key has no seller. gateway.marketplace.sellers.register registers one.',
  )
}

/** The same, of a seller that the operator has not stopped. @throws {GatewayError} seller_not_found, state_conflict */
export async function activeSellerOf(parts: Pick<SellerParts, 'store'>, key: SellerKey): Promise<Seller> {
  const seller = await sellerOf(parts, key)
  if (seller.state === 'active') return seller
  throw new GatewayError(
    'state_conflict',
    `The operator has suspended this seller: ${seller.stateReason ?? 'no reason was given'}.`,
  )
}

/** @throws {GatewayError} service_not_found */
export async function listingOf(
  { store }: Pick<SellerParts, 'store'>,
  sellerId: string,
  serviceId: string,
): Promise<Listing> {
  const listing = await store.findListing(sellerId, serviceId)
  if (listing) return listing
  throw new GatewayError('service_not_found', `There is no service ${sellerId}/${serviceId}.`)
}

/** An event that somebody is told of. `data` holds ids and the gateway's own words. */
export const eventOf = (
  type: string,
  now: number,
  data: Readonly<Record<string, unknown>> = {},
): NewMarketEvent => ({ id: newId('evt', now), type, data })

export async function rulesOf({
  settings,
  target,
}: Pick<SellerParts, 'settings' | 'target'>): Promise<DocumentRules> {
  const { fee, limits } = await settings()
  return {
    target,
    fee: { bps: fee.bps, fixedAtomic: fee.fixed_atomic, minimumAtomic: fee.minimum_atomic },
    maxPriceAtomic: BigInt(limits.max_price_atomic),
  }
}

/** Whether money for this host may go to the seller: it is proven, and the account that is paid has signed for it. */
export const isHostProven = (
  host: MarketHost | undefined,
  { payoutAddress }: Pick<Seller, 'payoutAddress'>,
): boolean => host?.state === 'proven' && host.payoutAddress === payoutAddress

/** @throws {GatewayError} state_conflict that says how the host is proven */
export async function demandProof(
  { store }: Pick<SellerParts, 'store'>,
  seller: Seller,
  origin: string,
): Promise<void> {
  if (isHostProven(await store.findHost(seller.id, hostOf(origin)), seller)) return
  throw new GatewayError(
    'state_conflict',
    `${origin} is not proven to be yours (any more). gateway.seller.host says what to publish, ` +
      'gateway.seller.verify looks for it.',
  )
}

/** One host, document or check of a seller's is worked on at a time: it is the seller that has to wait, not everybody. */
export const ownWorkUnderWay = (detail: string, seconds: number) =>
  new GatewayError('rate_limited', `${detail} Try again in ${seconds} s.`, {
    extras: { retry_after_seconds: seconds },
  })

/** All the places are taken, by whomever. */
export const noPlace = (detail: string, seconds: number) =>
  new GatewayError('overloaded', `${detail} Try again in ${seconds} s.`, {
    extras: { retry_after_seconds: seconds },
  })
