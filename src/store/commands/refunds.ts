// One refund is one row: recorded -> submitted -> settled | failed. What was paid bounds the sum of all refunds of a claim but the
// failed ones: refunds of one claim are recorded one after the other, behind the lock of its row.
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto, Undo } from '../command.ts'
import type { Millis } from '../model.ts'
import type { PaymentClaim } from '../ports/payments.ts'
import type { NewRefund, Refund, Spend } from '../ports/refunds.ts'
import { recordMovement } from './accounts.ts'
import { findBought, UNCLAIMED } from './bought-credits.ts'
import { CLAIM, type ClaimRow, toClaim } from './claims.ts'
import { concludeRefund, takeRefund } from './market-sales.ts'
import { addCredits } from './returned-credits.ts'
import { NOTHING_YET, transferRows } from './transfer-rows.ts'

const beginning = [
  'id',
  'claimId',
  'reference',
  'accountId',
  'network',
  'asset',
  'payer',
  'tool',
  'amount',
  'credits',
  'reason',
  'sender',
  'nonce',
  'validBefore',
  'state',
  'createdAt',
] as const
/** `transaction` is a word of SQL. */
const REFUND = `${columns([...beginning, 'tries', 'failure', 'receiptId', 'submittedAt', 'finishedAt'])}, tx AS "transaction"`
const INSERT = insertInto('refunds', [...beginning, 'creditsAccount'])

/** Each transfer costs the operator gas, whatever it moves: a seller gives a sale back in so many parts at most. */
const MOST_OF_SELLER = 10

/** Its chain may have taken the payment back since: there is nothing to pay back then, for now or for good. */
const IS_PAID = `EXISTS (SELECT 1 FROM payment_claims
  WHERE payment_claims.id = refunds.claim_id AND payment_claims.state = 'settled')`
const rows = transferRows<Refund>('refunds', REFUND, IS_PAID)

export type Recorded =
  | { readonly ok: true; readonly refund: Refund; readonly repeated: boolean }
  /**
   * `claim`: there is none, or it is not the asking seller's. `state`: it is not settled. `amount`: more than is left. `credits`:
   * they are spent. `balance`: the seller who asks does not hold as much. `many`: it has refunded this sale so often before.
   */
  | {
      readonly ok: false
      readonly reason: 'claim' | 'state' | 'amount' | 'credits' | 'reference' | 'balance' | 'many'
      /** Atomic units that may still be refunded; of `amount` and `credits`. */
      readonly left?: string
      /** Credits that had to go back; of `credits`. */
      readonly credits?: number
    }

/**
 * Binds an amount of a settled claim to a transfer that is to come, and takes back the credits that it bought, in proportion.
 * The same reference answers with the refund that it made.
 */
export const recordRefund = command({ kind: 'transaction', touches: 'records', startsWork: true })(function* (
  refund: NewRefund,
): Command<Recorded> {
  const { claimId, reference, createdAt } = refund
  const row = yield* first<ClaimRow>(`SELECT ${CLAIM} FROM payment_claims WHERE id = $1 FOR UPDATE`, claimId)
  if (!row) return { ok: false, reason: 'claim' }
  const claim = toClaim(row)
  const refunds = yield* listRefunds(claimId)
  const before = refunds.find((other) => other.reference === reference)
  if (before) {
    const isSame = refund.amount === null || refund.amount === before.amount
    return isSame ? { ok: true, refund: before, repeated: true } : { ok: false, reason: 'reference' }
  }
  if (claim.state !== 'settled') return { ok: false, reason: 'state' }
  if (refund.asker !== undefined && refunds.filter(mayHaveCost).length >= MOST_OF_SELLER)
    return { ok: false, reason: 'many' }
  const bound = sumOf(refunds.filter(({ state }) => state !== 'failed'))
  const left = BigInt(claim.amount) - bound.amount
  const amount = refund.amount === null ? left : BigInt(refund.amount)
  if (amount <= 0n || amount > left) return { ok: false, reason: 'amount', left: left.toString() }
  const credits = creditsFor(claim, bound.amount + amount) - bound.credits
  // Those that nobody got stand where the operator finds them, and go back from there.
  const source = credits > 0 ? ((yield* findBought(claimId))?.account ?? null) : null
  if (source !== null && !(yield* takeCredits(source, refund.id, credits, createdAt)))
    return { ok: false, reason: 'credits', left: left.toString(), credits }
  const { network, asset, payer, tool } = claim
  const written = { ...refund, network, asset, payer, tool, amount: amount.toString(), credits }
  const values = { ...written, state: 'recorded' as const }
  yield* all(INSERT, ...beginning.map((name) => values[name]), source)
  const refused = yield* takeRefund({
    refundId: refund.id,
    claimId,
    amount,
    before: bound.amount,
    returnsFee: refund.returnsFee ?? true,
    asker: refund.asker,
    now: createdAt,
  })
  if (refused) throw new Undo<Recorded>({ ok: false, reason: refused, left: left.toString() })
  return { ok: true, refund: { ...values, ...NOTHING_YET }, repeated: false }
})

/** One that failed at its first try has not left, or was reverted once: what is tried again and again cost gas each time. */
const mayHaveCost = ({ state, tries }: Refund) => state !== 'failed' || tries > 1

const sumOf = (refunds: readonly Refund[]) => ({
  amount: refunds.reduce((sum, { amount }) => sum + BigInt(amount), 0n),
  credits: refunds.reduce((sum, { credits }) => sum + credits, 0),
})

/** Credits that are gone once so much of the claim is refunded: whole ones, never fewer than the money bought. */
function creditsFor({ purchase, amount }: PaymentClaim, refunded: bigint): number {
  if (!purchase) return 0
  const paid = BigInt(amount)
  return Number((BigInt(purchase.credits) * refunded + paid - 1n) / paid)
}

/** False where the account does not hold them any more. */
function* takeCredits(accountId: string, refundId: string, credits: number, now: Millis): Command<boolean> {
  if (!accountId.startsWith('system:')) {
    const text = 'UPDATE accounts SET balance = balance - $1 WHERE id = $2 AND balance >= $1 RETURNING id'
    if (!(yield* first(text, credits, accountId))) return false
  }
  yield* moveCredits(accountId, refundId, -credits, now)
  return true
}

const moveCredits = (accountId: string, reference: string, amount: number, now: Millis) =>
  recordMovement({
    transactionId: newId('txn', now),
    accountId,
    against: 'purchase',
    amount,
    kind: 'reversal',
    reference,
    now,
  })

/** All refunds of a claim, oldest first. */
export const listRefunds = command({ kind: 'read' })(function* (claimId: string): Command<readonly Refund[]> {
  const rows = yield* all<Refund>(`SELECT ${REFUND} FROM refunds WHERE claim_id = $1 ORDER BY id`, claimId)
  return rows.map((row) => ({ ...row }))
})

/** Undefined when there is no such refund. */
export const getRefund = command({ kind: 'lookup' })(rows.get)

/** Open refunds that nobody looked at since `before`, longest first; nothing is marked. */
export const listOpenRefunds = command({ kind: 'read' })(rows.listOpen)

/** Refunds that settled and are not final: a chain may still replace their blocks. Oldest first. */
export const listSettledRefunds = command({ kind: 'read' })(rows.listSettled)

/** A settled refund whose block nothing replaces any more: nobody looks again. */
export const finalizeRefund = command({ kind: 'statement', touches: 'records' })(rows.finalize)

/** An open refund was looked at: others leave it for a while. */
export const touchRefund = command({ kind: 'statement', touches: 'records' })(rows.touch)

/**
 * `recorded | submitted -> submitted`, durable before a byte leaves. Undefined when somebody else has set out to send it since
 * it was read with so many tries, or it is decided, or its payment is not settled any more: then do not send.
 */
export const submitRefund = command({ kind: 'statement', touches: 'records', startsWork: true })(rows.submit)

/** `recorded | submitted -> settled`, once, with its receipt. */
export const settleRefund = command({ kind: 'transaction', touches: 'records' })(function* (
  input: Parameters<typeof rows.settle>[0],
): Command<Refund | undefined> {
  const refund = yield* rows.settle(input)
  if (refund) yield* concludeRefund(input.id, 'refund_settled', input.now)
  return refund
})

/** Before the refund's: whoever reverses the claim counts its refunds, and must not count one that fails meanwhile. */
const LOCK_CLAIM =
  'SELECT state FROM payment_claims WHERE id = (SELECT claim_id FROM refunds WHERE id = $1) FOR UPDATE'
/**
 * `recorded | submitted -> failed`: the transfer never comes. The credits that were taken for it go back, unless their payment was
 * reversed, too.
 * @param input.tries where it failed because nothing left: undefined is answered when somebody else set out since
 */
export const failRefund = command({ kind: 'transaction', touches: 'records' })(function* (
  input: Parameters<typeof rows.fail>[0],
): Command<Refund | undefined> {
  const claim = yield* first<Pick<PaymentClaim, 'state'>>(LOCK_CLAIM, input.id)
  const refund = yield* rows.fail(input)
  if (!refund) return undefined
  if (refund.credits > 0) yield* returnCredits(refund, claim?.state === 'failed', input.now)
  yield* concludeRefund(input.id, 'refund_failed', input.now)
  return refund
})

/**
 * They go back to where they were taken from. Of a purchase that was reversed they are taken again at once, as the rest of it was: their
 * money never came.
 */
function* returnCredits({ id, claimId, credits }: Refund, isReversed: boolean, now: Millis): Command<void> {
  const source = yield* first<{ account: string }>(
    'SELECT credits_account AS account FROM refunds WHERE id = $1',
    id,
  )
  if (!source) return
  if (isReversed) {
    yield* moveCredits(source.account, id, credits, now)
    yield* moveCredits(source.account, claimId, -credits, now)
    return
  }
  const hasRoom = yield* addCredits(source.account, credits)
  yield* moveCredits(hasRoom ? source.account : UNCLAIMED, id, credits, now)
}

/** `settled -> submitted`: its chain replaced the block. Its receipt is withdrawn. */
export const reopenRefund = command({ kind: 'transaction', touches: 'records' })(function* (
  input: Parameters<typeof rows.reopen>[0],
): Command<Refund | undefined> {
  const refund = yield* rows.reopen(input)
  if (refund) yield* concludeRefund(input.id, 'refund_reopened', input.now)
  return refund
})

const DAY_MS = 86_400_000
/** Prices are few, so days and prices make few groups; decimal text is added up outside SQL. */
const groups = (from: string) => `SELECT network, asset, tool, amount, finished_at / ${DAY_MS} AS day,
    CAST(count(*) AS INTEGER) AS count
  FROM ${from} WHERE payer = $1 AND state = 'settled' AND finished_at >= $2 AND finished_at < $3
  GROUP BY network, asset, tool, amount, finished_at / ${DAY_MS}`
interface Group {
  network: string
  asset: string
  tool: string
  amount: string
  day: number
  count: number
}

/** What a payer spent between two moments, by month, network, asset and tool; newest month first. */
export const listSpend = command({ kind: 'read' })(function* (input: {
  payer: string
  since: Millis
  until: Millis
}): Command<readonly Spend[]> {
  const { payer, since, until } = input
  const spends = new Map<string, { -readonly [K in keyof Spend]: Spend[K] }>()
  function spendOf({ network, asset, tool, day }: Group) {
    const month = new Date(Number(day) * DAY_MS).toISOString().slice(0, 7)
    const key = JSON.stringify([month, network, asset, tool])
    const spend = spends.get(key) ?? { network, asset, tool, month, payments: 0, settled: '0', refunded: '0' }
    spends.set(key, spend)
    return spend
  }
  for (const group of yield* all<Group>(groups('payment_claims'), payer, since, until)) {
    const spend = spendOf(group)
    spend.payments += group.count
    spend.settled = (BigInt(spend.settled) + BigInt(group.amount) * BigInt(group.count)).toString()
  }
  for (const group of yield* all<Group>(groups('refunds'), payer, since, until)) {
    const spend = spendOf(group)
    spend.refunded = (BigInt(spend.refunded) + BigInt(group.amount) * BigInt(group.count)).toString()
  }
  return [...spends.values()].toSorted(newestFirst)
})

function newestFirst(one: Spend, other: Spend): number {
  if (one.month !== other.month) return one.month < other.month ? 1 : -1
  const [left, right] = [one, other].map(({ network, asset, tool }) => `${network} ${asset} ${tool}`)
  return (left ?? '') < (right ?? '') ? -1 : 1
}
