// Ratings of paid calls. Whoever rates shows a receipt of ours for a call of the service, and that it was they who paid: a receipt alone
// may be read by whoever holds its id, the seller among them.
import type { SignInChallenge } from '../../../schemas/sign-in.ts'
import { sanitiseText } from '../../actions/sanitised-text.ts'
import type { PaymentGate, PresentedPayment, PresentedSignIn } from '../../core/charging.ts'
import { GatewayError } from '../../core/errors.ts'
import { JWS_TYPES } from '../../receipts/types.ts'
import type { Rating, Store } from '../../store/ports.ts'
import type { Recorder } from './recorder.ts'

export interface RatingParts {
  readonly store: Pick<Store, 'addRating' | 'findSale' | 'getReceipt'>
  readonly payments: Pick<PaymentGate, 'claim'>
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly recorder: Pick<Recorder, 'flush'>
  readonly now: () => number
}

export interface GivenRating {
  /** Compact JWS, or the id of the receipt. */
  readonly receipt: string
  readonly rating: number
  readonly words: string | undefined
}

export interface Ratings {
  /**
   * @returns the rating, or what the payer has to sign where nothing shows that it is they who ask
   * @throws {GatewayError} receipt_not_found, state_conflict where the call was rated before
   */
  rate(
    given: GivenRating,
    shown: { readonly payment?: PresentedPayment | undefined; readonly signIn?: PresentedSignIn | undefined },
  ): Promise<
    | { readonly rating: Rating; readonly signIn: null }
    | { readonly rating: null; readonly signIn: SignInChallenge }
  >
}

const MAX_WORDS = 500
const LIVE_NETWORK = 'eip155:8453'

export function createRatings({ store, payments, verifyOwn, recorder, now }: RatingParts): Ratings {
  return {
    async rate({ receipt, rating, words }, shown) {
      const jws = receipt.startsWith('rcp_') ? (await store.getReceipt(receipt))?.jws : receipt
      const claims = jws === undefined ? undefined : verifyOwn(jws, JWS_TYPES.receipt)
      const claimId = claims?.['kind'] === 'payment' ? claims['claim_id'] : undefined
      const sale = typeof claimId === 'string' ? await store.findSale(claimId) : undefined
      if (!sale?.isBooked || sale.network !== LIVE_NETWORK)
        throw new GatewayError(
          'receipt_not_found',
          'This is no receipt of this gateway for a call that was paid on the market with live money. Send `receipt.receipt_id` or `receipt.jws` of the answer.',
        )
      const { claim, signIn } = await payments.claim(sale.claimId, shown)
      if (signIn) return { rating: null, signIn }
      // Whether the payer counts is known once its call is.
      await recorder.flush()
      const made = await store.addRating({
        claimId: sale.claimId,
        sellerId: sale.sellerId,
        serviceId: sale.serviceId,
        payer: claim.payer,
        rating,
        words: cleaned(words),
        createdAt: now(),
      })
      if (!made) throw new GatewayError('state_conflict', 'This call was rated before: one rating for each.')
      return { rating: made, signIn: null }
    },
  }
}

/** One line of printable text; null when nothing is left. */
function cleaned(words: string | undefined): string | null {
  const text = sanitiseText((words ?? '').slice(0, MAX_WORDS).replace(/\s+/g, ' ').trim())
  return text === '' ? null : text
}
