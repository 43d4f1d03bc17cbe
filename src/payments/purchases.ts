// Credits bought with x402: what they cost, whose they are, and the offer that a 402 for credits carries, so that an
// agent with a funded wallet tops up and goes on. The credits are granted by the transaction that settles the payment.
import { formatAtomic } from '../../schemas/money.ts'
import type { PaymentRequired } from '../../schemas/x402.ts'
import type { Config } from '../core/config.ts'
import { GatewayError } from '../core/errors.ts'
import type { CreditsRequired, Terms } from '../core/charging.ts'
import type { Signer } from '../receipts/ports.ts'
import type { Caller } from '../core/caller.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import type { Store } from '../store/ports.ts'
import type { Networks } from '../core/networks.ts'
import { createTopUpTokens, type TopUpToken } from './topup-tokens.ts'
import { toRequirements } from './requirements.ts'

export interface PurchaseRequest {
  readonly credits: number
  /** One-time reference of a 402 for credits; needed where the caller has no account. */
  readonly account_reference?: string | undefined
}

/** Credits bought with x402. */
export interface Purchases {
  /**
   * @throws {GatewayError} input_invalid, input_conflict, key_required, account_not_found, state_conflict,
   * payments_unavailable
   */
  plan(request: PurchaseRequest, caller: Caller): Promise<PlannedPurchase>
  readonly creditsRequired: CreditsRequired
}

/** A purchase as it was understood: whose credits, how many, for how much. */
export interface PlannedPurchase {
  readonly charge: Terms
  /**
   * Result for the buyer; the credits themselves come with the settlement of the claim.
   * @throws {GatewayError} state_conflict when the reference pays, or paid, through another claim
   */
  run(context: { readonly claimId: string }): Promise<PurchaseResult>
}

export interface PurchaseResult {
  readonly credits_granted: number
  /** Only to its holder: who pays by reference is not told. */
  readonly account_id: string | null
  readonly claim_id: string
  readonly payment_url: string
  readonly balance_url: string
  readonly cost: {
    readonly amount_atomic: string
    readonly amount: string
    readonly currency: 'USDC'
    readonly decimals: number
    readonly credit_price_atomic: string
  }
}

export interface PurchaseParts {
  readonly config: Pick<Config, 'creditPriceAtomic'>
  readonly store: Pick<Store, 'balance' | 'takeReference'>
  readonly networks: Networks
  readonly signer: Signer
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
  readonly payTo: string | undefined
  readonly baseUrl: string
  readonly now: () => number
}

export const PURCHASE_PATH = '/v1/credits/purchase'
const PURCHASE_TOOL = 'gateway.credits.purchase'
const DECIMALS = 6
/** Number of credits that is offered when fewer are needed. */
const USUAL_CREDITS = 100
/** Stock x402 clients refuse to pay more than one dollar at a time unless they are told to. */
const STOCK_CLIENT_LIMIT_ATOMIC = 1_000_000n
const MAX_CREDITS = 100_000

export function createPurchases(parts: PurchaseParts): Purchases {
  const { store, payTo, baseUrl, now } = parts
  const price = parts.config.creditPriceAtomic
  const topUpTokens = createTopUpTokens(parts)
  // Test money buys nothing that real money buys, and credits are priced in USDC; the embedded chain of a sandbox answers as
  // the real network.
  const networks = parts.networks.all.filter(({ revenue, isPinned }) => revenue && isPinned)
  const provenNetworks = () => networks.filter(({ network }) => !parts.networks.hindrance(network))
  const whyNot = whyNotForSale()

  function whyNotForSale(): string | undefined {
    if (price === 0n) return 'the operator has set no price for them'
    if (payTo === undefined) return 'the operator has not said who is paid'
    if (networks.length === 0) return 'no network with real money is configured'
    return undefined
  }

  /** The account of the token, else the one of the reference; both may be given when they agree. */
  function accountFor(
    { credits, account_reference }: PurchaseRequest,
    caller: Caller,
  ): { accountId: string; reference: TopUpToken | undefined } {
    const own = 'accountId' in caller ? caller.accountId : undefined
    const reference = account_reference === undefined ? undefined : topUpTokens.open(account_reference)
    if (reference !== undefined && own !== undefined && reference.accountId !== own)
      throw new GatewayError(
        'input_conflict',
        'The account_reference is of another account than your token. Leave one of them out.',
        { extras: { fields: [{ pointer: '/account_reference', message: 'names another account' }] } },
      )
    if (reference !== undefined && credits < reference.minimum)
      throw new GatewayError(
        'input_invalid',
        `What was refused needs ${reference.minimum} credits: buy at least that many.`,
        { extras: { fields: [{ pointer: '/credits', message: `must be at least ${reference.minimum}` }] } },
      )
    const accountId = reference?.accountId ?? own
    if (accountId === undefined)
      throw new GatewayError(
        'key_required',
        'Say whose credits these are: send a service key or a capability, or the account_reference that the 402 for ' +
          'credits carried in `offer.request.body`.',
      )
    return { accountId, reference }
  }

  return {
    async plan(request, caller) {
      const { accountId, reference } = accountFor(request, caller)
      if (whyNot !== undefined)
        throw new GatewayError(
          'payments_unavailable',
          `Credits are not for sale here: ${whyNot}. The operator grants them: \`agent-gateway credits grant\`.`,
          { reason: 'credits_not_for_sale' },
        )
      const balance = await store.balance(accountId)
      if (balance === undefined)
        throw new GatewayError('account_not_found', 'There is no account of this id any more.')
      if (balance + request.credits > Number.MAX_SAFE_INTEGER)
        throw new GatewayError(
          'state_conflict',
          'The balance would exceed what the gateway counts. Buy less.',
        )
      const charge = {
        amountAtomic: BigInt(request.credits) * price,
        networks: networks.map(({ network }) => network),
        requestDigest: digestCanonical({
          tool: PURCHASE_TOOL,
          account_id: accountId,
          credits: request.credits,
          reference: reference?.id ?? null,
        }),
        purchase: { accountId, credits: request.credits },
      }
      return {
        charge,
        async run({ claimId }) {
          if (reference !== undefined) {
            const taken = await store.takeReference({ id: reference.id, claimId, now: now() })
            if (!taken.ok) throw referenceUsed(taken.claim, baseUrl)
          }
          return {
            credits_granted: request.credits,
            account_id: 'accountId' in caller ? accountId : null,
            claim_id: claimId,
            payment_url: `${baseUrl}/v1/payments/${claimId}`,
            balance_url: `${baseUrl}/v1/credits`,
            cost: costOf(request.credits, price),
          }
        },
      }
    },

    async creditsRequired({ accountId, balance, need, what }) {
      const isForSale = whyNot === undefined && provenNetworks().length > 0
      const credits = isForSale ? creditsToOffer(need, price) : undefined
      const offer = credits === undefined ? undefined : makeOffer(accountId, need, credits)
      return new GatewayError(
        'credits_required',
        `${what} and the account has ${balance}. ` +
          (offer
            ? `Pay \`offer\`: POST \`offer.request.body\` to ${baseUrl}${PURCHASE_PATH} with an x402 payment, then send this ` +
              'request again. Or ask the operator to top the account up.'
            : 'Ask the operator to top it up.'),
        {
          extras: {
            balance,
            top_up: {
              how: `agent-gateway credits grant ${USUAL_CREDITS} --account ${accountId} --reference "<what for>"`,
              account: accountId,
              purchase: offer === undefined ? null : `${baseUrl}${PURCHASE_PATH}`,
            },
            ...(offer && { offer, accepts: offer.accepts }),
          },
        },
      )
    },
  }

  /** In the body only: in a header, a stock client would pay it to the address that refused. */
  function makeOffer(accountId: string, minimum: number, credits: number) {
    const { jws, expiresAt } = topUpTokens.issue(accountId, minimum)
    const url = baseUrl + PURCHASE_PATH
    const required: PaymentRequired = {
      x402Version: 2,
      resource: { url, description: `${credits} usage credits`, mimeType: 'application/json' },
      accepts: provenNetworks().map((network) =>
        toRequirements({ network, amountAtomic: BigInt(credits) * price, payTo: payTo! }),
      ),
    }
    const body = { credits, account_reference: jws }
    return {
      ...required,
      request: { method: 'POST', url, body, tool: PURCHASE_TOOL },
      cost: costOf(credits, price),
      expires_at: new Date(expiresAt).toISOString(),
    }
  }
}

/** Number of credits to offer: the usual one, fewer where that is too dear for stock clients, never fewer than needed. */
function creditsToOffer(need: number, price: bigint): number {
  const affordable = Number(STOCK_CLIENT_LIMIT_ATOMIC / price)
  return Math.min(MAX_CREDITS, Math.max(need, Math.min(USUAL_CREDITS, affordable)))
}

function costOf(credits: number, price: bigint): PurchaseResult['cost'] {
  const amount = BigInt(credits) * price
  return {
    amount_atomic: amount.toString(),
    amount: formatAtomic(amount),
    currency: 'USDC',
    decimals: DECIMALS,
    credit_price_atomic: price.toString(),
  }
}

const USED_WORDS: Readonly<Record<string, string>> = {
  settled: 'its credits are on the account: send the request that needed them again',
  failed: 'ask again for an offer',
}

function referenceUsed(claim: { id: string; state: string }, baseUrl: string): GatewayError {
  return new GatewayError(
    'state_conflict',
    `This account_reference is used by another payment (${claim.state}); ` +
      `${USED_WORDS[claim.state] ?? 'look that payment up before you pay again'}. This payment was not used.`,
    {
      reason: 'reference_used',
      extras: {
        claim_id: claim.id,
        state: claim.state,
        payment_url: `${baseUrl}/v1/payments/${claim.id}`,
      },
    },
  )
}
