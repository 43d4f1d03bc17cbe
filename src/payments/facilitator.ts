// Serves POST /verify and POST /settle: the parts that settle our own payments, at the service of other sellers.
import type { PaymentRequirements, SettleResponse } from '../../schemas/x402.ts'
import type { Config } from '../core/config.ts'
import { digestCanonical } from '../lib/canonical-json.ts'
import type { Fault } from '../lib/fault-points.ts'
import { newId } from '../lib/ids.ts'
import { must } from '../lib/must.ts'
import type { Facilitator } from './ports.ts'
import type { Purchases } from './purchases.ts'
import type { Caller } from '../core/caller.ts'
import type { CreditCharge } from '../core/credit-charge.ts'
import type { ClaimLimits, PaymentClaim, Store } from '../store/ports.ts'
import { createFacilitatorCard } from './facilitator-card.ts'
import {
  asSettleRefusal,
  asVerifyRefusal,
  blockedSettle,
  blockedVerify,
  failedSettle,
  replayed,
  pendingSettlement,
} from './facilitator-refusals.ts'
import { isMadeByCopies } from './firewall.ts'
import type { OnSettled, Payment, Router, Settlement, Settlements, Verifier } from './ports.ts'
import type { Networks } from '../core/networks.ts'
import type { Presentations } from './presentation.ts'
import { claimVerified } from './reserve.ts'
import type { PaymentPolicy } from './policy.ts'
import { accountOf, createSettleTerms } from './settle-terms.ts'
import { noRoute } from './settlements.ts'
import { decodeFacilitatorRequest } from './wire.ts'

export interface FacilitatorParts {
  readonly config: Config
  /** The operator's rules, as they are now. */
  readonly readPolicy: () => Promise<PaymentPolicy>
  readonly store: Store
  readonly networks: Networks
  readonly verifier: Verifier
  readonly router: Router
  readonly settlements: Settlements
  readonly presentations: Presentations
  readonly creditsRequired: Purchases['creditsRequired']
  readonly onSettled?: OnSettled | undefined
  readonly baseUrl: string
  readonly bootId: string
  /** Payments of one payer, asset and network that may be open at once. */
  readonly maxOpen?: number | undefined
  readonly now: () => number
  readonly fault: Fault
  /** For tests: waits between two questions about a payment that another request is settling. */
  readonly wait?: ((ms: number) => Promise<void>) | undefined
}

/** The time that a copy of a payment waits for the first one. */
const WAIT_MS = 20_000
const POLL_MS = 250
/** Credits for a settlement after the free allowance. */
export const SETTLE_COST = 1

interface Asked {
  readonly payment: Payment
  readonly requirements: PaymentRequirements
  readonly resourceUrl: string | null
  readonly onSubmitted?: (() => void) | undefined
}

/** @param parts.creditsRequired makes the refusal that says how to buy credits */
export function createFacilitator(parts: FacilitatorParts): Facilitator {
  const { config, store, networks, verifier, router, settlements, presentations } = parts
  const { baseUrl, bootId, now, fault } = parts
  const terms = createSettleTerms(parts)
  const wait = parts.wait ?? ((ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)))
  // Copies of a payment wait for its settlement in this process; the key is the id of the claim.
  const running = new Map<string, Promise<unknown>>()

  const verifyPayment = ({ payment, requirements, resourceUrl }: Asked, withBalance = false) =>
    verifier.verify(payment, requirements, { withBalance, ...(resourceUrl !== null && { resourceUrl }) })

  async function claim(asked: Asked, caller: Caller, limits: ClaimLimits) {
    const { payment, requirements } = asked
    const at = now()
    const resource = resourceOf(asked)
    const wanted = {
      id: newId('clm', at),
      origin: 'settle' as const,
      network: payment.network,
      asset: toKey(payment, requirements.asset),
      payer: payment.payer,
      nonce: payment.nonce,
      payTo: requirements.payTo,
      amount: requirements.amount,
      validBefore: payment.validBefore,
      tool: 'settle',
      method: 'POST',
      resource,
      requestDigest: digestOf(asked),
      requirementDigest: digestCanonical(requirements),
      presentationDigest: presentations.digest(payment),
      // A challenge of another seller's is not ours to judge, and nothing is kept here that it could release.
      secret: null,
      identifier: null,
      purchase: null,
      accountId: accountOf(caller),
      createdAt: at,
    }
    return settlements.begin(wanted.id, () => store.claimPayment({ bootId, ...limits, claim: wanted }))
  }

  /** Takes one of the month's free settlements, or else a credit. @throws {GatewayError} credits_required */
  async function take(held: PaymentClaim, caller: Caller, charge: CreditCharge): Promise<void> {
    const at = now()
    const accountId = accountOf(caller)
    const allowance = config.settleFreeAllowance
    const taken = await store.takeSettlement({
      allowances: terms.allowancesOf(held, caller),
      month: new Date(at).toISOString().slice(0, 7),
      accountId,
      claimId: held.id,
      transactionId: newId('txn', at),
      now: at,
    })
    if (taken.ok)
      return taken.paidBy === 'credits'
        ? charge.taken(SETTLE_COST, held.id)
        : charge.waived(`one of ${allowance} free settlements of the month`)
    if (accountId === null) throw terms.usedUp(held, taken.usedUp)
    throw await parts.creditsRequired({
      accountId,
      balance: taken.balance ?? 0,
      need: SETTLE_COST,
      what:
        `The free allowance of ${allowance} settlements a month is used up; ` +
        `each one more costs ${SETTLE_COST} credit`,
    })
  }

  async function settleClaimed(
    held: PaymentClaim,
    asked: Asked,
    caller: Caller,
    charge: CreditCharge,
  ): Promise<SettleResponse> {
    try {
      await fault.at('after_claim')
      await take(held, caller, charge)
      await fault.at('after_work')
    } catch (thrown) {
      await settlements.giveBack(held, 'credits_required')
      throw thrown
    }
    let settlement: Settlement
    try {
      settlement = await settlements.settle({
        claim: held,
        payment: asked.payment,
        requirements: asked.requirements,
        result: null,
        onSubmitted: asked.onSubmitted,
      })
    } catch (thrown) {
      // Nothing was submitted; the claim is canceled where it still can be.
      await settlements.giveBack(held, 'not_submitted')
      throw thrown
    }
    await fault.at('before_release')
    return answer(settlement, asked)
  }

  function answer(settlement: Settlement, { payment }: Asked): SettleResponse {
    const { claim: held } = settlement
    if (settlement.state === 'failed') throw failedSettle(settlement, payment)
    if (settlement.state !== 'settled') throw pendingSettlement(held, payment, baseUrl)
    return {
      success: true,
      payer: held.payer,
      transaction: must(held.transaction, 'the transaction of a settled claim'),
      network: payment.x402Version === 1 ? toV1Name(payment.network) : payment.network,
      amount: held.amount,
      extra: {
        claim_id: held.id,
        receipt_id: settlement.receipt.id,
        receipt_url: `${baseUrl}/v1/receipts/${settlement.receipt.id}`,
      },
    }
  }
  const toV1Name = (network: string) => networks.find(network)?.v1Name ?? network

  /** Waits until the claim is decided, at most WAIT_MS. */
  async function waitFor(held: PaymentClaim): Promise<PaymentClaim> {
    let current = held
    for (const end = now() + WAIT_MS; isInFlight(current) && now() < end;) {
      await Promise.race([running.get(held.id) ?? wait(POLL_MS), wait(POLL_MS)])
      current = (await store.getClaim(held.id)) ?? current
    }
    return current
  }

  /**
   * A payment that somebody presented before: never paid twice, never a success. The claim is named only to who proves
   * to have the payer's signature: a nonce is public once it is used.
   * @returns when the claim was canceled and the payment is free again
   */
  async function refuseCopy(held: PaymentClaim, asked: Asked): Promise<void> {
    const { payment, requirements } = asked
    const isSame = presentations.isSame(payment, held)
    // The very payment was judged before; what others judge (contract wallets) is not judged here again.
    if (!isSame) {
      const verdict = await verifier.verify(payment, requirements, { claimId: held.id, skipChain: true })
      if (!verdict.ok) throw blockedSettle(verdict, payment)
    }
    const waited = await waitFor(held)
    const current = await settlements.reconcileOne(waited)
    switch (current.state) {
      case 'canceled':
        return
      case 'settled':
        throw replayed(current, payment, isSame && knowsPurchase(current, asked) ? baseUrl : undefined)
      case 'failed':
        throw failedSettle({ claim: current }, payment)
      default:
        throw pendingSettlement(current, payment, baseUrl)
    }
  }

  async function settle(asked: Asked, caller: Caller, charge: CreditCharge): Promise<SettleResponse> {
    const { payment, requirements } = asked
    const key = {
      network: payment.network,
      asset: toKey(payment, requirements.asset),
      payer: payment.payer,
      nonce: payment.nonce,
    }
    for (;;) {
      const before = await store.findClaim(key)
      if (before) {
        await refuseCopy(before, asked)
        continue
      }
      const tooSmall = await terms.check(requirements, caller)
      if (tooSmall) throw blockedSettle(tooSmall, payment)
      const verdict = await verifyPayment(asked)
      const reserved = verdict.ok
        ? await claimVerified(verdict, {
            verify: () => verifyPayment(asked, true),
            async claim(limits) {
              if ((await router.routes(payment)).length === 0) throw noRoute(payment)
              await fault.at('before_claim')
              return claim(asked, caller, limits)
            },
            maxOpen: parts.maxOpen,
          })
        : { state: 'refused' as const, verdict }
      if (reserved.state === 'refused') {
        // Claimed, or even settled, while it was looked at: what became of that claim is the better answer.
        if (isMadeByCopies(reserved.verdict.check) && (await store.findClaim(key))) continue
        throw blockedSettle(reserved.verdict, payment)
      }
      if (reserved.state === 'taken') {
        await refuseCopy(reserved.claim, asked)
        continue
      }
      const { claim: held } = reserved
      const work = settleClaimed(held, asked, caller, charge)
      running.set(
        held.id,
        work.catch(() => {}),
      )
      try {
        return await work
      } finally {
        running.delete(held.id)
      }
    }
  }

  return {
    async verify(body, caller) {
      let asked: Asked
      let tooSmall: Awaited<ReturnType<typeof terms.check>>
      try {
        asked = decodeFacilitatorRequest(body, networks)
        // A seller who works for a payment that is good, and will not be settled here, works for nothing.
        tooSmall = await terms.check(asked.requirements, caller)
      } catch (thrown) {
        throw asVerifyRefusal(thrown)
      }
      const verdict = tooSmall ?? (await verifyPayment(asked))
      if (!verdict.ok) throw blockedVerify(verdict)
      return { isValid: true, payer: verdict.payer }
    },

    async settle(body, caller, charge, onSubmitted) {
      let asked: Asked | undefined
      try {
        asked = decodeFacilitatorRequest(body, networks)
        const settled = await settle({ ...asked, onSubmitted }, caller, charge)
        const told = await parts.onSettled?.({ ...asked, payer: settled.payer ?? '' })
        return { ...settled, ...(told && { extensionResponses: told }) }
      } catch (thrown) {
        throw asSettleRefusal(thrown, asked?.payment)
      }
    },

    ...createFacilitatorCard(parts),
  }
}

const resourceOf = ({ payment, resourceUrl }: Asked) => resourceUrl ?? payment.resourceUrl ?? ''
const digestOf = (asked: Asked) =>
  digestCanonical({ resource: resourceOf(asked), requirements: asked.requirements })

/**
 * The receipt says what was bought, so it is named to who knows that already: the seller, who says it again, or the buyer, by
 * the secret in the payment.
 */
const knowsPurchase = ({ origin, secret, requestDigest }: PaymentClaim, asked: Asked) =>
  origin === 'settle' ? requestDigest === digestOf(asked) : secret !== null

const isInFlight = ({ state }: PaymentClaim) => state === 'claimed' || state === 'submitted'

/** Addresses of an EVM are the same in any case; others are not. */
const toKey = ({ network }: Payment, asset: string) =>
  network.startsWith('eip155:') ? asset.toLowerCase() : asset
