// One payment claim is one row: claimed -> submitted -> settled | pending | unknown | failed, or claimed -> canceled.
// Every step compares the state before it sets, so that a payment is submitted once and settled once. What a payer may claim
// is standings.ts's.
import { hash } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../lib/ids.ts'
import { all, columns, type Command, command, first, insertInto, type SqlValue, Undo } from '../command.ts'
import { insertReceipt, type RecoverInput, type UnfinishedInput } from './attempts.ts'
import { grantPurchase } from './bought-credits.ts'
import { spend, unspend } from './claim-budgets.ts'
import { bookSale, insertSale } from './market-sales.ts'
import { returnSettlement } from './settlements.ts'
import { addSettled, findRefusal, isSeen } from './standings.ts'
import type { Millis } from '../model.ts'
import type { StoredReceipt } from '../ports/attempts.ts'
import type { Budget } from '../ports/budgets.ts'
import type { Sale } from '../ports/market.ts'
import type { ClaimBlock, ClaimLimits, PaymentClaim, NewPaymentClaim } from '../ports/payments.ts'

export interface FindClaimInput {
  network: string
  asset: string
  payer: string
  nonce: string
}

export interface FindIdentifiedClaimInput {
  tool: string
  payer: string
  identifier: string
}

export interface SubmitClaimInput {
  id: string
  bootId: string
  upstream: string
  result: { json: string; sha256: string; expiresAt: Millis } | null
  now: Millis
}

export interface SettleClaimInput {
  id: string
  transaction: string
  /** Upstream that settled it, when that is not the one it was submitted to first. */
  upstream?: string | undefined
  receipt: StoredReceipt
  /** Where the chain has it; without it nobody looks whether it stays there. */
  block?: ClaimBlock | undefined
  /** An upstream's word is all there is: its transaction pays for this claim and for no other. */
  isTrusted?: boolean | undefined
  transactionId: string
  now: Millis
}

const beginning = [
  'id',
  'origin',
  'network',
  'asset',
  'payer',
  'nonce',
  'payTo',
  'amount',
  'validBefore',
  'tool',
  'method',
  'resource',
  'requestDigest',
  'requirementDigest',
  'presentationDigest',
  'secret',
  'identifier',
  'purchaseAccountId',
  'purchaseCredits',
  'accountId',
  'createdAt',
] as const
const later = [
  'state',
  'upstream',
  'reason',
  'resultSha256',
  'receiptId',
  'submittedAt',
  'finishedAt',
] as const
/** `transaction` is a word of SQL. */
export const CLAIM = `${columns([...beginning, ...later])}, tx AS "transaction"`

export type ClaimRow = Omit<PaymentClaim, 'purchase'> & {
  purchaseAccountId: string | null
  purchaseCredits: number | null
}
/** A row as the ports know it: the purchase is one member, or null. */
export function toClaim(row: ClaimRow): PaymentClaim {
  const { purchaseAccountId, purchaseCredits, ...claim } = row
  const purchase =
    purchaseAccountId === null || purchaseCredits === null
      ? null
      : { accountId: purchaseAccountId, credits: purchaseCredits }
  return { ...claim, purchase }
}

/**
 * Digest of what must be unique, in 16 bytes: nonces are random, so every claim lands on another page of this index, and it
 * stays in memory only while its rows are small. Canceling sets it to NULL, which is unique to nobody; the other
 * steps do not touch it, nor the index.
 */
const digest = (...parts: readonly string[]): Buffer =>
  // The encoding `'buffer'` costs Node four times as much.
  Buffer.from(hash('sha256', JSON.stringify(parts), 'binary').slice(0, 16), 'binary')
/** 16 bytes that are the same for the same authorization, whatever it pays for. */
export const paymentKeyOf = (c: FindClaimInput) => digest(c.network, c.asset, c.payer, c.nonce)
const identifierKeyOf = (c: FindIdentifiedClaimInput) => digest(c.tool, c.payer, c.identifier)

const INSERT_CLAIM = `${insertInto('payment_claims', [...beginning, 'state', 'bootId', 'paymentKey', 'identifierKey'])}
  ON CONFLICT DO NOTHING RETURNING id`

export interface ClaimPaymentInput extends ClaimLimits {
  claim: NewPaymentClaim
  bootId: string
  /** Of the agent that pays: what it pays counts on the USDC budgets of its lineage and its credential. */
  capabilityId?: string | undefined
  /** What the payment buys from a listing: a row in the same transaction. */
  sale?: Sale | undefined
}

export type Claimed =
  | { ok: true; claim: PaymentClaim }
  | { ok: false; reason: 'payment' | 'identifier'; claim: PaymentClaim }
  | { ok: false; reason: 'funds' | 'open_claims'; claim?: never }
  | { ok: false; reason: 'budget'; budget: Budget; claim?: never }

/**
 * Inserts as `claimed`, or names the claim that is in the way: same payment, or same (tool, payer, identifier); or says that
 * the payer's other claims leave no room for it (`fits` in standings.ts says why no interleaving makes room that is not there).
 */
export const claimPayment = command({ kind: 'transaction', touches: 'records', startsWork: true })(function* (
  input: ClaimPaymentInput,
): Command<Claimed> {
  const { claim, bootId } = input
  const { purchase, identifier } = claim
  if (purchase && !(Number.isSafeInteger(purchase.credits) && purchase.credits > 0))
    throw new GatewayError('input_invalid', 'Buy a whole number of credits, at least 1.')
  const identified = identifier === null ? undefined : { ...claim, identifier }
  const values: SqlValue[] = beginning.map((name) => {
    if (name === 'purchaseAccountId') return purchase?.accountId ?? null
    return name === 'purchaseCredits' ? (purchase?.credits ?? null) : claim[name]
  })
  // Addresses of other networks come as the buyer spells them; PostgreSQL holds every text but this.
  if (values.some((value) => typeof value === 'string' && value.includes('\0')))
    throw new GatewayError(
      'input_invalid',
      'The payment holds the character U+0000, which nothing in it may.',
    )
  values.push('claimed', bootId, paymentKeyOf(claim), identified ? identifierKeyOf(identified) : null)
  // The claim that was in the way may be canceled by the time it is looked for: then the payment is free, so try again.
  for (;;) {
    const refusal = yield* findRefusal(claim, input)
    if (!refusal && (yield* first(INSERT_CLAIM, ...values))) {
      if (input.sale) yield* insertSale(claim, input.sale)
      const budget = yield* spend(claim, input.capabilityId)
      if (budget) throw new Undo<Claimed>({ ok: false, reason: 'budget', budget })
      return { ok: true, claim: begun(claim) }
    }
    // A copy of what is claimed is no other payment of the same payer.
    const sameNonce = yield* findClaim(claim)
    if (sameNonce) return { ok: false, reason: 'payment', claim: sameNonce }
    const sameIdentifier = identified && (yield* findIdentifiedClaim(identified))
    if (sameIdentifier) return { ok: false, reason: 'identifier', claim: sameIdentifier }
    if (refusal) return { ok: false, reason: refusal }
    if (yield* getClaim(claim.id))
      throw new GatewayError('state_conflict', 'A claim with this id exists already. Read it.')
  }
})

const begun = (claim: NewPaymentClaim): PaymentClaim => ({
  ...claim,
  state: 'claimed',
  upstream: null,
  transaction: null,
  reason: null,
  resultSha256: null,
  receiptId: null,
  submittedAt: null,
  finishedAt: null,
})

const GET_CLAIM = `SELECT ${CLAIM} FROM payment_claims WHERE id = $1`
/** A canceled claim is found by its id alone. */
export const getClaim = command({ kind: 'lookup' })(function* (
  id: string,
): Command<PaymentClaim | undefined> {
  const row = yield* first<ClaimRow>(GET_CLAIM, id)
  return row && toClaim(row)
})

const FIND_CLAIM = `SELECT ${CLAIM} FROM payment_claims WHERE payment_key = $1`
/** The claim that holds this payment, canceled ones aside. */
export const findClaim = command({ kind: 'lookup' })(function* (
  key: FindClaimInput,
): Command<PaymentClaim | undefined> {
  const row = yield* first<ClaimRow>(FIND_CLAIM, paymentKeyOf(key))
  return row && toClaim(row)
})

const FIND_IDENTIFIED = `SELECT ${CLAIM} FROM payment_claims WHERE identifier_key = $1`
/** The claim that holds this identifier of the buyer for this tool, canceled ones aside. */
export const findIdentifiedClaim = command({ kind: 'lookup' })(function* (
  key: FindIdentifiedClaimInput,
): Command<PaymentClaim | undefined> {
  const row = yield* first<ClaimRow>(FIND_IDENTIFIED, identifierKeyOf(key))
  return row && toClaim(row)
})

const SUBMIT = `UPDATE payment_claims SET state = 'submitted', upstream = $1, result_sha256 = $2, submitted_at = $3
  WHERE id = $4 AND boot_id = $5 AND state = 'claimed' RETURNING id`
const INSERT_RESULT = insertInto('claim_results', ['claimId', 'json', 'sha256', 'expiresAt'])
/**
 * `claimed -> submitted`, with the result (if any) that will be released once settled. Durable before the first
 * settle byte leaves. False when it is no longer ours: then do not settle.
 */
export const submitClaim = command({ kind: 'transaction', touches: 'records' })(function* (
  input: SubmitClaimInput,
): Command<boolean> {
  const { id, bootId, upstream, result, now } = input
  if (!(yield* first(SUBMIT, upstream, result?.sha256, now, id, bootId))) return false
  if (result) yield* all(INSERT_RESULT, id, result.json, result.sha256, result.expiresAt)
  return true
})

const GET_RESULT = `SELECT json, sha256, expires_at AS "expiresAt" FROM claim_results WHERE claim_id = $1`
type Result = { json: string; sha256: string; expiresAt: Millis }
/** The stored result of a claim, until its 24 hours are over and it is swept; settling late starts them anew. */
export const getClaimResult = command({ kind: 'lookup' })(function* (
  id: string,
): Command<Result | undefined> {
  const row = yield* first<Result>(GET_RESULT, id)
  return row && { ...row }
})

const SIGN_IN = `UPDATE payment_claims SET signed_in_at = $1
  WHERE id = $2 AND (signed_in_at IS NULL OR signed_in_at < $1) RETURNING id`
/**
 * Takes the payer's signature under the challenge of this moment, once for all replicas. False when it, or one of a later
 * challenge, was taken before: earlier signatures are used up with it, so one number remembers them all.
 */
export const acceptSignIn = command({ kind: 'statement', touches: 'records' })(function* (input: {
  id: string
  issuedAt: Millis
}): Command<boolean> {
  return (yield* first(SIGN_IN, input.issuedAt, input.id)) !== undefined
})

export const DAY_MS = 24 * 3600 * 1000
export const HOUR_MS = 3600 * 1000
/** Word for word what the index of watched claims holds: SQLite recognises it by that alone. */
export const IS_WATCHED = `state = 'failed' AND finished_at IS NULL`
/** Its money may still move: nobody knows the ending, or it was refused while its authorization could still be used. */
export const IS_OPEN = `(state IN ('submitted', 'pending', 'unknown') OR ${IS_WATCHED})`
/**
 * One that its chain took back has a receipt, and ends by the commands of reorganisations.ts alone: whoever read it before it settled
 * decided for another claim than it is now.
 */
export const NEVER_SETTLED = 'receipt_id IS NULL'
const SETTLE = `UPDATE payment_claims SET state = 'settled', tx = $1, receipt_id = $2, reason = NULL,
    upstream = COALESCE($3, upstream), finished_at = $4, block_number = $5, block_hash = $6
  WHERE id = $7 AND ${IS_OPEN} AND ${NEVER_SETTLED} RETURNING ${CLAIM}`
/** No row where the transaction pays for a claim already, whichever process settled that. Hexadecimal digits are the same in either case. */
const TAKE_TRANSACTION = `INSERT INTO trusted_transactions (network, tx, claim_id)
  SELECT network, CASE WHEN network LIKE 'eip155:%' THEN lower($1) ELSE $1 END, id FROM payment_claims
  WHERE id = $2 AND ${IS_OPEN} AND ${NEVER_SETTLED} ON CONFLICT DO NOTHING RETURNING claim_id`

/**
 * `submitted | pending | unknown | watched failed -> settled`, once, with its receipt, and with the credits it bought (double entry,
 * kind `purchase`, reference the claim id) in the same transaction. Undefined when it was not in such a state, or had settled before.
 * When the account is gone or full, it settles all the same with reason `purchase_unclaimed`, and the credits stand
 * on `system:unclaimed` until the operator grants them by hand. Where it is trusted and its transaction paid for another claim, it is
 * `unknown` with the reason `settlement_unproven` instead, and nothing else is written.
 */
export const settleClaim = command({ kind: 'transaction', touches: 'records' })(function* (
  input: SettleClaimInput,
): Command<PaymentClaim | undefined> {
  const { id, transaction, receipt, upstream, block, now } = input
  const isTrusted = input.isTrusted === true
  if (isTrusted && !(yield* first(TAKE_TRANSACTION, transaction, id)))
    return yield* moveClaim({
      id,
      to: 'unknown',
      reason: 'settlement_unproven',
      transaction: null,
      upstream,
      now,
    })
  const row = yield* first<ClaimRow>(
    SETTLE,
    transaction,
    receipt.id,
    upstream,
    now,
    block?.number,
    block?.hash,
    id,
  )
  // Somebody ended it in between: its transaction is free again.
  if (!row && isTrusted) throw new Undo(undefined)
  if (!row) return undefined
  const claim = toClaim(row)
  yield* addSettled(claim)
  yield* insertReceipt(receipt)
  yield* bookSale(id, now)
  // A buyer whose payment settles late has its day from now on.
  if (claim.submittedAt !== null && claim.submittedAt <= now - HOUR_MS)
    yield* all('UPDATE claim_results SET expires_at = $1 WHERE claim_id = $2', now + DAY_MS, id)
  return claim.purchase ? yield* grantPurchase(claim, claim.purchase, input) : claim
})

const MOVE = `UPDATE payment_claims SET state = $1, reason = $2, tx = COALESCE($3, tx),
    upstream = COALESCE($4, upstream), finished_at = $5
  WHERE id = $6 AND state IN ('submitted', 'pending', 'unknown') AND ($1 <> 'failed' OR ${NEVER_SETTLED}) RETURNING ${CLAIM}`
/**
 * `submitted | pending | unknown -> pending | unknown | failed`. Undefined when it was not in such a state, or is to fail and had settled
 * before: `reverseClaim` takes back what that one bought.
 * A transaction once known stays when `transaction` is null. Failed is final and its stored result deleted, unless it is
 * watched: then it has no `finishedAt` yet, keeps its result and may still settle.
 */
export const moveClaim = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  to: 'pending' | 'unknown' | 'failed'
  reason: string | null
  transaction: string | null
  /** Upstream as in `settleClaim`. */
  upstream?: string | undefined
  /** Only of `failed`: its authorization could still be used by whoever has it. */
  isWatched?: boolean | undefined
  now: Millis
}): Command<PaymentClaim | undefined> {
  const { id, to, reason, transaction, upstream, isWatched, now } = input
  const isFinal = to === 'failed' && isWatched !== true
  const row = yield* first<ClaimRow>(MOVE, to, reason, transaction, upstream, isFinal ? now : null, id)
  if (row && isSeen(row)) yield* addSettled(row)
  // A result that was never paid is never released.
  if (row && isFinal) {
    yield* all('DELETE FROM claim_results WHERE claim_id = $1', id)
    yield* unspend(id)
  }
  return row && toClaim(row)
})

const CANCELED = `state = 'canceled', reason = $1, finished_at = $2, payment_key = NULL, identifier_key = NULL`
/**
 * `claimed -> canceled`: nothing was submitted, and what `takeSettlement` took for it goes back. False when it was already submitted or is
 * another process's.
 */
export const cancelClaim = command({ kind: 'transaction', touches: 'records' })(function* (input: {
  id: string
  bootId: string
  reason: string
  now: Millis
}): Command<boolean> {
  const { id, bootId, reason, now } = input
  const row = yield* first<Pick<PaymentClaim, 'origin'>>(
    `UPDATE payment_claims SET ${CANCELED} WHERE id = $3 AND boot_id = $4 AND state = 'claimed' RETURNING origin`,
    reason,
    now,
    id,
    bootId,
  )
  if (!row) return false
  if (row.origin === 'settle') yield* returnSettlement({ claimId: id, transactionId: newId('txn', now), now })
  yield* unspend(id)
  return true
})

/** Word for word what the index of unfinished claims holds: SQLite recognises it by that alone. */
const UNFINISHED = `state IN ('claimed', 'submitted')`

type Recovered = { canceled: number; unknown: number }
/**
 * Nothing of `claimed` was submitted; what became of `submitted`, only the chain knows.
 * @param id that one alone
 */
export function* recoverClaimsOf(
  owners: readonly string[],
  { now, id: only }: Omit<RecoverInput, 'bootId'>,
): Command<Recovered> {
  const recovered = { canceled: 0, unknown: 0 }
  const alone = (place: number) => (only === undefined ? '' : `AND id = $${place}`)
  const ids = only === undefined ? [] : [only]
  for (const bootId of owners) {
    const unsent = yield* all<{ id: string }>(
      `UPDATE payment_claims SET ${CANCELED} WHERE boot_id = $3 AND state = 'claimed' AND ${UNFINISHED} ${alone(4)} RETURNING id`,
      'crashed',
      now,
      bootId,
      ...ids,
    )
    const sent = yield* all(
      `UPDATE payment_claims SET state = 'unknown', reason = 'crashed'
       WHERE boot_id = $1 AND state = 'submitted' AND ${UNFINISHED} ${alone(2)} RETURNING id`,
      bootId,
      ...ids,
    )
    // A settlement that was paid for and never submitted costs nothing.
    for (const { id } of unsent) {
      yield* returnSettlement({ claimId: id, transactionId: newId('txn', now), now })
      yield* unspend(id)
    }
    recovered.canceled += unsent.length
    recovered.unknown += sent.length
  }
  return recovered
}

/** Names the process starts with unfinished claims, other than $1. */
export const UNFINISHED_CLAIM_OWNERS = `SELECT DISTINCT boot_id AS "bootId" FROM payment_claims
  WHERE ${UNFINISHED} AND boot_id <> $1`
/** Claims of dead processes: `claimed -> canceled`, `submitted -> unknown`. Living processes' are not touched. */
export const recoverClaims = command({ kind: 'transaction', touches: 'access' })(function* (
  input: RecoverInput,
): Command<Recovered> {
  const owners = yield* all<{ bootId: string }>(UNFINISHED_CLAIM_OWNERS, input.bootId)
  return yield* recoverClaimsOf(
    // One engine has one owner at a time, so every other process start is dead; PostgreSQL asks the leases instead.
    owners.map((owner) => owner.bootId),
    input,
  )
})

/** Ids of the claims of a process start that are `claimed` or `submitted`. */
export const listUnfinishedClaims = command({ kind: 'read' })(function* (
  input: UnfinishedInput,
): Command<readonly { id: string }[]> {
  const rows = yield* all<{ id: string }>(
    `SELECT id FROM payment_claims WHERE boot_id = $1 AND ${UNFINISHED} AND id > $2 ORDER BY id LIMIT $3`,
    input.bootId,
    input.after,
    input.limit,
  )
  return rows.map((row) => ({ ...row }))
})
