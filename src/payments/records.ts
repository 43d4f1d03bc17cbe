// What the operator of the installation asks about payments: which there were, the whole life of one, what its chain says now, and what
// they came to. Closing by hand is the one thing that changes something, where nothing can move the money any more.
import type { z } from 'zod'
import type { ChainFinding, PaymentEvent, PaymentRecord } from '../../schemas/payment-record.ts'
import type { OperatorRefund } from '../../schemas/refund.ts'
import { GatewayError } from '../core/errors.ts'
import type { Networks } from '../core/networks.ts'
import { toTimestamp, toTimestampOrNull } from '../lib/timestamp.ts'
import type { ClaimClosure, ClaimSearch, PaymentClaim, Refund, Store } from '../store/ports.ts'
import type { EvidenceReader } from './chain-evidence.ts'
import { isWatched } from './claim-store.ts'
import { toPaymentRecord } from './payment-record.ts'
import type { Settlements } from './ports.ts'
import { isUndecided } from './reconcile.ts'
import { refundedOf } from './refund-wire.ts'
import { isPaidToUs, type Refunds } from './refunds.ts'
import { readDays, type Revenue, type RevenueBy, sumRevenue } from './revenue.ts'

type Finding = z.output<typeof ChainFinding>
type Happening = z.output<typeof PaymentEvent>

export interface PaymentLife {
  readonly payment: PaymentRecord
  /** The terms that it was checked against: digests of them and of the request, and how its buyer proves to be that. */
  readonly bound_to: {
    readonly requirement_digest: string
    readonly request_digest: string
    readonly buyer_known_by: 'challenge' | 'identifier' | 'signature'
  }
  readonly settlement: {
    readonly block: number | null
    readonly confirmations_needed: number
    /** It failed while it could still be used: whoever has it may still settle it. */
    readonly may_still_settle: boolean
  }
  /** Whether what it bought is still kept for its buyer, and until when. */
  readonly result: { readonly sha256: string; readonly kept_until: string | null } | null
  readonly receipt: {
    readonly receipt_id: string
    readonly withdrawn_at: string | null
    readonly replaced_by: string | null
  } | null
  /** What a settlement for another seller was paid with. */
  readonly settlement_fee: { readonly paid_by: 'allowance' | 'credits'; readonly month: string } | null
  readonly refunded_atomic: string
  readonly refundable_atomic: string
  readonly refunds: readonly z.output<typeof OperatorRefund>[]
  readonly closed: {
    readonly was: 'pending' | 'unknown'
    readonly reason: string
    readonly closed_by: string
    readonly closed_at: string
  } | null
  readonly events: readonly Happening[]
}

export interface Looked {
  readonly payment: PaymentRecord
  readonly was: PaymentRecord['state']
  /** Null where nobody was asked, since nothing can change any more. */
  readonly chain: Finding | null
  /** What was found and what to do next, in words. */
  readonly says: string
  /** From when on it may be closed by hand; null where it may not. */
  readonly closable_from: string | null
}

export interface PaymentRecords {
  /** A page, newest first; fewer than asked for where most that were looked through do not fit, and `next` goes on. */
  list(
    filter: ClaimSearch,
    page: { readonly limit: number; readonly before?: string | undefined },
  ): Promise<{ readonly payments: readonly PaymentRecord[]; readonly next: string | null }>
  /** @throws {GatewayError} payment_not_found */
  show(claimId: string): Promise<PaymentLife>
  /** Asks the chain of a payment now. @throws {GatewayError} payment_not_found */
  reconcile(claimId: string): Promise<Looked>
  /**
   * Ends a payment that nobody can decide as failed, on somebody's word.
   * @param closedBy id of the key or the person
   * @throws {GatewayError} payment_not_found; state_conflict where somebody else decides it, or its money could still move
   */
  close(
    claimId: string,
    decision: { readonly reason: string; readonly closedBy: string },
  ): Promise<PaymentLife>
  /** @throws {GatewayError} input_invalid */
  revenue(
    by: RevenueBy,
    days: { readonly from?: string | undefined; readonly to?: string | undefined },
  ): Promise<{ readonly from: string; readonly to: string; readonly revenue: readonly Revenue[] }>
}

/** Clocks differ, and a chain that nobody sees may be behind. */
const MARGIN_MS = 6 * 3_600_000
/** A payment that names no end: no scheme that is known keeps a transfer usable for so long. */
const ENDLESS_MS = 7 * 24 * 3_600_000

export function createPaymentRecords(parts: {
  readonly store: Store
  readonly networks: Networks
  readonly evidence: EvidenceReader
  readonly settlements: Pick<Settlements, 'reconcileOne'>
  readonly refunds: Pick<Refunds, 'of' | 'show'>
  /** Account of this gateway that buyers pay to. */
  readonly payTo?: string | undefined
  /** Blocks that a transfer must be deep before it counts, by chain id; 1 elsewhere. */
  readonly confirmations?: Readonly<Record<number, number>> | undefined
  readonly now: () => number
}): PaymentRecords {
  const { store, networks, evidence, settlements, refunds, confirmations = {}, now } = parts

  /** @throws {GatewayError} payment_not_found */
  async function find(claimId: string): Promise<PaymentClaim> {
    const claim = await store.getClaim(claimId)
    if (claim) return claim
    throw new GatewayError(
      'payment_not_found',
      'There is no payment of this id. `payments list` shows those that are there.',
    )
  }

  /** Undefined where its chain decides, or nothing is open. */
  function closableFrom(claim: PaymentClaim): number | undefined {
    const { state, validBefore, submittedAt, createdAt } = claim
    if (state !== 'pending' && state !== 'unknown') return undefined
    if (evidence.canRead(claim)) return undefined
    return validBefore === null ? (submittedAt ?? createdAt) + ENDLESS_MS : validBefore + MARGIN_MS
  }

  async function show(claimId: string): Promise<PaymentLife> {
    const claim = await find(claimId)
    const [block, kept, standing, take, closure, its] = await Promise.all([
      store.getClaimBlock(claimId),
      store.getClaimResult(claimId),
      claim.receiptId === null ? undefined : store.getReceiptStanding(claim.receiptId),
      store.getSettlementTake(claimId),
      store.getClaimClosure(claimId),
      refunds.of(claimId),
    ])
    const bound = its.reduce(
      (sum, { state, amount }) => (state === 'failed' ? sum : sum + BigInt(amount)),
      0n,
    )
    const chainId = networks.find(claim.network)?.chainId
    return {
      payment: toPaymentRecord(claim),
      bound_to: {
        requirement_digest: claim.requirementDigest,
        request_digest: claim.requestDigest,
        buyer_known_by: claim.secret ?? 'signature',
      },
      settlement: {
        block: block?.number ?? null,
        confirmations_needed: (chainId === undefined ? undefined : confirmations[chainId]) ?? 1,
        may_still_settle: isWatched(claim),
      },
      result:
        claim.resultSha256 === null
          ? null
          : { sha256: claim.resultSha256, kept_until: toTimestampOrNull(kept?.expiresAt ?? null) },
      receipt:
        claim.receiptId === null
          ? null
          : {
              receipt_id: claim.receiptId,
              withdrawn_at: toTimestampOrNull(standing?.withdrawnAt ?? null),
              replaced_by: standing?.replacedBy ?? null,
            },
      settlement_fee: take ? { paid_by: take.paidBy, month: take.month } : null,
      refunded_atomic: refundedOf(its).toString(),
      refundable_atomic: String(
        claim.state === 'settled' && isPaidToUs(claim, parts.payTo) ? BigInt(claim.amount) - bound : 0n,
      ),
      refunds: await Promise.all(its.map((refund) => refunds.show(refund))),
      closed: closure
        ? {
            was: closure.was,
            reason: closure.reason,
            closed_by: closure.closedBy,
            closed_at: toTimestamp(closure.closedAt),
          }
        : null,
      events: eventsOf(claim, { withdrawnAt: standing?.withdrawnAt, closure, refunds: its }),
    }
  }

  return {
    async list(filter, page) {
      const { items, next } = await store.searchClaims(
        { ...filter, payer: lowerCaseOnEvm(filter.payer) },
        page,
      )
      return { payments: items.map(toPaymentRecord), next }
    },
    show,

    async reconcile(claimId) {
      const claim = await find(claimId)
      // What is being worked on is its process's: asking in between would decide nothing.
      const found = isUndecided(claim) ? (await evidence.read(claim)).state : null
      const after = found === null ? claim : await settlements.reconcileOne(claim)
      const from = closableFrom(after)
      // `barred` is only said of a payment that is at hand.
      const chain = found === 'barred' ? 'unused' : found
      return {
        payment: toPaymentRecord(after),
        was: claim.state,
        chain,
        says: wordsFor(after, chain, from),
        closable_from: from === undefined ? null : toTimestamp(from),
      }
    },

    async close(claimId, { reason, closedBy }) {
      const claim = await find(claimId)
      const from = closableFrom(claim)
      if (from === undefined) throw notByHand(claim, evidence.canRead(claim))
      if (now() < from)
        throw new GatewayError(
          'state_conflict',
          `Its authorization could still be used: closed now, its buyer could pay twice. Close it from ${toTimestamp(from)} on.`,
          { extras: { state: claim.state, closable_from: toTimestamp(from) } },
        )
      const closed = await store.closeClaim({ id: claimId, reason, closedBy, now: now() })
      if (!closed.ok) throw notByHand(await find(claimId), false)
      return show(claimId)
    },

    async revenue(by, asked) {
      const { from, to, ...between } = readDays(asked, by, now())
      return { from, to, revenue: await sumRevenue(store, networks, by, between) }
    },
  }
}

/** Addresses of other chains have capitals that count. */
const lowerCaseOnEvm = (address: string | undefined) =>
  address !== undefined && /^0x/i.test(address) ? address.toLowerCase() : address

function notByHand({ state }: PaymentClaim, isReadable: boolean): GatewayError {
  const isOpen = state === 'pending' || state === 'unknown'
  return new GatewayError(
    'state_conflict',
    isOpen && isReadable
      ? 'Its chain decides it: `payments reconcile` asks now. If its node does not answer, mend that (`agent-gateway doctor`) and ask again.'
      : `This payment is ${state}: only one that is pending or unknown is closed by hand.`,
    { extras: { state } },
  )
}

const OPEN_WORDS: Readonly<Record<Finding, string>> = {
  paid: 'Its chain shows the transfer, and the ending could not be written. Ask again in a moment.',
  void: 'Its chain shows that the money cannot move any more, and the ending could not be written. Ask again in a moment.',
  shallow:
    'Its chain shows the transfer in a block that is not as deep yet as GATEWAY_CONFIRMATIONS asks. Ask again in a minute.',
  unused:
    'Its chain shows no transfer so far, and the authorization could still be used. It is decided by itself once it expires.',
  unanswered: 'Its chain did not answer. Look at its node with `agent-gateway doctor`, then ask again.',
  unprovable:
    'No chain that this gateway reads can say what became of it. Look it up at the facilitator or in an explorer.',
}

/** @param from when it may be closed by hand */
function wordsFor(claim: PaymentClaim, chain: Finding | null, from: number | undefined): string {
  if (claim.state === 'settled') return 'It is settled: nothing is left to do.'
  if (claim.state === 'canceled')
    return 'It was canceled: nothing was charged, and the payment is free again.'
  if (claim.state === 'failed')
    return isWatched(claim)
      ? 'It failed, and its authorization could still be used: it is watched until it expires, and settles if the money moves.'
      : 'It failed: no money moved, and none can any more.'
  if (claim.state === 'claimed' || claim.state === 'submitted')
    return 'A process is working on it. Ask again in a minute; what a crash left behind is taken up by the next round.'
  const found = chain === null ? OPEN_WORDS.unanswered : OPEN_WORDS[chain]
  return from === undefined
    ? found
    : `${found} From ${toTimestamp(from)} on it can be closed by hand: \`payments reconcile ${claim.id} --close --reason TEXT\`.`
}

function eventsOf(
  claim: PaymentClaim,
  more: {
    readonly withdrawnAt: number | undefined
    readonly closure: ClaimClosure | undefined
    readonly refunds: readonly Refund[]
  },
): readonly Happening[] {
  const events: { at: number; event: Happening['event']; detail: string | null }[] = []
  const add = (at: number | null | undefined, event: Happening['event'], detail: string | null = null) => {
    if (at !== null && at !== undefined) events.push({ at, event, detail })
  }
  add(claim.createdAt, 'claimed', claim.resource)
  add(claim.submittedAt, 'submitted', claim.upstream)
  add(more.withdrawnAt, 'receipt_withdrawn', claim.receiptId)
  const { state } = claim
  if (state === 'settled') add(claim.finishedAt, state, claim.transaction)
  else if (state === 'failed' || state === 'canceled') add(claim.finishedAt, state, claim.reason)
  add(more.closure?.closedAt, 'closed_by_operator', more.closure?.reason ?? null)
  for (const { createdAt, finishedAt, state, amount, id, transaction, failure } of more.refunds) {
    add(createdAt, 'refund_recorded', `${id} ${amount}`)
    if (state === 'settled') add(finishedAt, 'refund_settled', `${id} ${transaction ?? ''}`.trim())
    if (state === 'failed') add(finishedAt, 'refund_failed', `${id} ${failure ?? ''}`.trim())
  }
  return events
    .toSorted((one, other) => one.at - other.at)
    .map(({ at, ...event }) => ({ at: toTimestamp(at), ...event }))
}
