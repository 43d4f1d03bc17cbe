// What a payer may still claim: its open claims count against the balance that somebody read on its chain.
//
// Why no interleaving lets more be claimed than the payer holds. A claim is decided in four steps, in this order: (1) `settled`
// is read here, (2) the balance is read on the chain, (3) the open claims and `settled` are read here, in the transaction that
// (4) inserts. Claims of one payer take steps 3 and 4 one after the other: SQLite has one writer, and PostgreSQL a lock
// (postgres/claim-lock.ts). Let k be an earlier claim whose transfer is mined after step 2, so that the balance holds its
// amount still. A claim is settled, or awaits confirmations, only after its transfer was seen in a block, so k does so after
// step 2, thus after step 1: at step 3 it is either open, and counted, or counted as what `settled` rose by. It did not end in
// another way, since `failed` and `canceled` mean that its transfer never comes. So whatever earlier claims can still take from
// the balance of step 2 is counted, and a claim that is made leaves it enough. Later claims count this one in the same way.
// A watched claim is `failed` though its transfer could come: its payer was told to pay again, which counting it would forbid.
// Should it come first, the later payment is refused by the simulation before its broadcast.
//
// A claim whose transfer was mined before step 2 and that settles after step 1 counts twice. That refuses and never overdraws,
// and it ends as soon as the claim is settled: whoever asks looks again after a moment (payments/verify.ts). A claim that awaits
// confirmations is counted in `settled` at once, and once more when it is settled, with the same effect. If its chain takes the
// block back meanwhile, its amount is free twice until somebody says so: there too the simulation has the last word.
import { all, type Command, command, first } from '../command.ts'
import type { ClaimLimits, OpenClaims, PayerStanding } from '../ports/payments.ts'

export interface PayerKey {
  network: string
  asset: string
  payer: string
}

/** Word for word what the index of open claims holds: SQLite recognises it by that alone. */
const OPEN = `state IN ('claimed', 'submitted', 'pending', 'unknown')`
/** The reason of a pending claim whose transfer is in a block already, which others may still replace. */
const AWAITING = 'awaiting_confirmations'
/** Whether the claim's transfer was seen in a block, and none of it is to come. */
export const isSeen = ({ state, reason }: { state: string; reason: string | null }): boolean =>
  state === 'pending' && reason === AWAITING
/** One statement, so that a claim which settles is in one of the two and never in neither. */
const STANDING = `SELECT amount, state FROM payment_claims WHERE payer = $1 AND network = $2 AND asset = $3 AND ${OPEN}
    AND reason IS DISTINCT FROM '${AWAITING}'
  UNION ALL SELECT settled, 'settled' FROM payer_totals WHERE payer = $4 AND network = $5 AND asset = $6`

/** What a payer has bound and paid; costs as much as it has open claims. */
export const findStanding = command({ kind: 'lookup' })(function* (key: PayerKey): Command<PayerStanding> {
  const { payer, network, asset } = key
  const rows = yield* all<{ amount: string; state: string }>(
    STANDING,
    payer,
    network,
    asset,
    payer,
    network,
    asset,
  )
  return toStanding(rows)
})

function toStanding(rows: readonly { amount: string; state: string }[]): PayerStanding {
  let settled = '0'
  let [count, submitted, working, amount] = [0, 0, 0, 0n]
  for (const row of rows) {
    if (row.state === 'settled') {
      settled = row.amount
      continue
    }
    count++
    amount += BigInt(row.amount)
    if (row.state !== 'claimed') submitted++
    if (row.state === 'claimed' || row.state === 'submitted') working++
  }
  return { open: { count, amount: amount.toString(), submitted, working }, settled }
}

/** @returns why the payer's other claims leave no room for this one; undefined where there is room, or nothing was asked */
export function* findRefusal(
  claim: PayerKey & { amount: string },
  { funds, maxOpen, maxWorking }: ClaimLimits,
): Command<'funds' | 'open_claims' | undefined> {
  // The payer of a foreign payment is known to its facilitator alone.
  if (claim.payer === '' || (funds ?? maxOpen ?? maxWorking) === undefined) return undefined
  const { open, settled } = yield* findStanding(claim)
  if (maxOpen !== undefined && open.count >= maxOpen) return 'open_claims'
  if (maxWorking !== undefined && open.working >= maxWorking) return 'open_claims'
  if (funds === undefined) return undefined
  const since = BigInt(settled) - BigInt(funds.settled)
  return fits(open, BigInt(funds.balance) - since, BigInt(claim.amount)) ? undefined : 'funds'
}

/** Whether a payer that holds `balance` can pay `amount` when all that is open is paid. */
export const fits = (open: OpenClaims, balance: bigint, amount: bigint): boolean =>
  BigInt(open.amount) + amount <= balance

/** Counts a claim among what its payer has paid; in the transaction that settles it, or that says that it was seen. */
export function* addSettled(claim: PayerKey & { amount: string }): Command<void> {
  const { payer, network, asset, amount } = claim
  if (payer === '') return
  const key = [payer, network, asset] as const
  // The row is there before it is read, so that two that settle at once do not both begin at nothing.
  yield* all(
    `INSERT INTO payer_totals (payer, network, asset, settled) VALUES ($1, $2, $3, '0') ON CONFLICT DO NOTHING`,
    ...key,
  )
  const row = yield* first<{ settled: string }>(
    'SELECT settled FROM payer_totals WHERE payer = $1 AND network = $2 AND asset = $3 FOR UPDATE',
    ...key,
  )
  yield* all(
    'UPDATE payer_totals SET settled = $1 WHERE payer = $2 AND network = $3 AND asset = $4',
    (BigInt(row?.settled ?? '0') + BigInt(amount)).toString(),
    ...key,
  )
}
