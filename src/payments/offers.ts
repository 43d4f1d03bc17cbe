// The x402 extension `offer-receipt`: signed offers in the challenge, a signed receipt in the settlement response. Both are
// functions of what they say, time in whole seconds: asked twice, they are the same bytes.
import type { PaymentRequirements, SettleResponse } from '../../schemas/x402.ts'
import { JWS_TYPES } from '../receipts/types.ts'
import type { Signer } from '../receipts/ports.ts'
import type { PaymentClaim } from '../store/ports.ts'
import type { Millis } from '../store/model.ts'
import { didOf } from './did.ts'

export const OFFER_RECEIPT = 'offer-receipt'
const VERSION = 1

const SIGNED = {
  type: 'object',
  properties: {
    format: { const: 'jws' },
    acceptIndex: { type: 'integer' },
    signature: { type: 'string' },
  },
  required: ['format', 'signature'],
}
const OFFERS_SCHEMA = {
  type: 'object',
  properties: { offers: { type: 'array', items: SIGNED }, challenge: { type: 'string' } },
  required: ['offers'],
}
const ANY = { type: 'object' }
const RECEIPT_SCHEMA = { type: 'object', properties: { receipt: SIGNED }, required: ['receipt'] }

/** The content of this extension in one challenge. */
export interface Told {
  /** The first ones of its `accepts`: those that there is room for. */
  readonly offers: readonly PaymentRequirements[]
  /** The text that tells this challenge from all others. */
  readonly challenge: string
  /** The schema is cut to its kind. */
  readonly isTerse: boolean
}

export interface Offers {
  /** One signed offer for each entry of `told.offers`, in its order. */
  advertise(resourceUrl: string, told: Told, now: Millis): { readonly info: object; readonly schema: object }
  /** How a settled claim is told to its buyer. */
  settled(claim: PaymentClaim): SettleResponse
}

export function createOffers({ signer, baseUrl }: { signer: Signer; baseUrl: string }): Offers {
  const did = didOf(baseUrl)
  return {
    advertise(resourceUrl, { offers: accepts, challenge, isTerse }, now) {
      const issuedAt = Math.floor(now / 1000)
      const offers = accepts.map(
        ({ scheme, network, asset, payTo, amount, maxTimeoutSeconds }, acceptIndex) => ({
          format: 'jws',
          acceptIndex,
          signature: signer.sign(
            JWS_TYPES.offer,
            {
              version: VERSION,
              resourceUrl,
              scheme,
              network,
              asset,
              payTo,
              amount,
              validUntil: issuedAt + maxTimeoutSeconds,
            },
            { did },
          ),
        }),
      )
      return { info: { offers, challenge }, schema: isTerse ? ANY : OFFERS_SCHEMA }
    },
    settled(claim) {
      const { network, resource, payer, amount } = claim
      const transaction = claim.transaction ?? ''
      const receipt = {
        version: VERSION,
        network,
        resourceUrl: resource,
        payer,
        // The moment is that of the settlement, not of this answer: a replay carries the same receipt.
        issuedAt: Math.floor((claim.finishedAt ?? claim.createdAt) / 1000),
        ...(transaction !== '' && { transaction }),
      }
      const signature = signer.sign(JWS_TYPES.x402Receipt, receipt, { did })
      return {
        success: true,
        payer,
        transaction,
        network,
        amount,
        extensions: {
          [OFFER_RECEIPT]: { info: { receipt: { format: 'jws', signature } }, schema: RECEIPT_SCHEMA },
        },
      }
    },
  }
}
