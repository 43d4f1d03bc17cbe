// Writes the ending of a claim. Money that has moved is not forgotten when the store does not answer.
import { type OnFault, uncounted } from '../core/faults.ts'
import { newId } from '../lib/ids.ts'
import { keepNewest } from '../lib/keep-newest.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { PaymentClaim, Store } from '../store/ports.ts'
import { LOCAL, REVERTED } from './decision-table.ts'
import type { ChainBlock } from './chain-ports.ts'
import type { PayerLosses } from './payer-losses.ts'
import type { Settlement } from './ports.ts'
import { type ReceiptParts, signPaymentReceipt } from './receipt.ts'

export interface ClaimStoreParts extends ReceiptParts {
  readonly store: Store
  readonly log: Logger
  readonly onFault?: OnFault
  /** Told how payments end. */
  readonly losses?: Pick<PayerLosses, 'lost' | 'paid'> | undefined
}

/** What moved the money, through whom, and where. */
export interface Settled {
  readonly transaction: string
  readonly upstream: string
  readonly block?: ChainBlock | undefined
  /** Nobody but the upstream says so: its transaction pays for one claim, for which the store stands. */
  readonly isTrusted?: boolean | undefined
}

/** None of it throws: an ending that could not be written is answered as `unknown`, and the reconciler decides it again. */
export interface ClaimStore {
  /**
   * Writes the settlement with its receipt, once: a second writer is given the first one's. `unknown` where it is trusted and its
   * transaction paid for another claim.
   */
  settled(claim: PaymentClaim, by: Settled): Promise<Settlement>
  /** Writes the final failure; the price that /settle took is given back first. */
  failed(claim: PaymentClaim, reason: string, upstream?: string): Promise<Settlement>
  /** Writes a failure that somebody who has the authorization could still turn into a settlement: it stays watched. */
  failedForNow(claim: PaymentClaim, reason: string, upstream: string): Promise<Settlement>
  /** Makes the failure of a watched claim final. */
  endWatch(claim: PaymentClaim): Promise<Settlement>
  /** Writes an ending that is not known yet: the transaction waits for its block, or nobody answered. */
  doubtful(
    claim: PaymentClaim,
    to: 'pending' | 'unknown',
    why: { reason: string | null; transaction: string | null; upstream?: string | undefined },
  ): Promise<Settlement>
  /** Reads the claim as it stands now. */
  standing(claim: PaymentClaim): Promise<Settlement>
  /** Claims of this process whose ending the store would not take. */
  unwritten(): readonly string[]
  forget(claimId: string): void
}

/** More are decided a little later, when the store lists them as doubtful or as left. */
const MAX_UNWRITTEN = 10_000

/** @param parts.log is told of endings that the store did not take */
export function createClaimStore(parts: ClaimStoreParts): ClaimStore {
  const { store, now, log, losses, onFault = uncounted } = parts
  const unwritten = new Set<string>()

  async function write(
    claim: PaymentClaim,
    ending: string,
    command: () => Promise<Settlement>,
  ): Promise<Settlement> {
    try {
      return await command()
    } catch (thrown) {
      unwritten.add(claim.id)
      keepNewest(unwritten, MAX_UNWRITTEN)
      log.error({ [LogField.claim]: claim.id, ending, err: thrown }, 'an ending could not be written')
      return { state: 'unknown', claim }
    }
  }

  async function standingOf(claim: PaymentClaim): Promise<Settlement> {
    const current = (await store.getClaim(claim.id)) ?? claim
    const { state, receiptId } = current
    if (state === 'settled') {
      const receipt = receiptId === null ? undefined : await store.getReceipt(receiptId)
      if (!receipt) throw new Error('a settled claim has lost its receipt')
      return { state, claim: current, receipt }
    }
    if (state === 'failed' || state === 'canceled') return failure(current)
    return { state: state === 'pending' ? 'pending' : 'unknown', claim: current }
  }

  /** In the same transaction its receipt is true again; in another one it needs a new one. */
  async function settleAgain(claim: PaymentClaim, receiptId: string, by: Settled): Promise<Settlement> {
    const isSame = claim.transaction === by.transaction
    const receipt = isSame ? null : signPaymentReceipt(parts, claim, by)
    const settled = await store.resettleClaim({
      id: claim.id,
      receiptId,
      receipt,
      transaction: by.transaction,
      block: toStored(by.block),
      now: now(),
    })
    log.warn(
      { [LogField.claim]: claim.id, transaction: by.transaction, isSame },
      'a payment that a reorganisation took back is settled again',
    )
    return settled && receipt ? { state: 'settled', claim: settled, receipt } : standingOf(settled ?? claim)
  }

  /** Nobody gets the money of a settlement that was believed: the loss is told, and credits go back. */
  async function reverse(claim: PaymentClaim, reason: string): Promise<Settlement> {
    const at = now()
    if (claim.origin === 'settle')
      await store.returnSettlement({ claimId: claim.id, transactionId: newId('txn', at), now: at })
    const reversed = await store.reverseClaim({ id: claim.id, reason, now: at })
    if (!reversed) return standingOf(claim)
    onFault('payment_lost')
    log.error(
      {
        [LogField.claim]: claim.id,
        reason,
        network: claim.network,
        amount: claim.amount,
        receipt: claim.receiptId,
        lostCredits: reversed.lost,
      },
      'a payment was lost: its chain replaced the block, and it cannot be settled any more',
    )
    return failure(reversed.claim)
  }

  async function fail(
    claim: PaymentClaim,
    why: { reason: string; upstream: string | undefined; isWatched: boolean },
  ): Promise<Settlement> {
    if (claim.receiptId !== null) return reverse(claim, why.reason)
    const at = now()
    // The price is given back before the row is final: a crash in between leaves the claim doubtful, and the
    // reconciler gives back once.
    if (claim.origin === 'settle' && !burntGas(claim, why.upstream ?? claim.upstream))
      await store.returnSettlement({ claimId: claim.id, transactionId: newId('txn', at), now: at })
    const failed = await store.moveClaim({ id: claim.id, to: 'failed', ...why, transaction: null, now: at })
    if (failed && isPayersDoing(claim, why.reason)) losses?.lost(claim)
    return failed ? failure(failed) : standingOf(claim)
  }

  return {
    settled(claim, by) {
      return write(claim, 'settled', async () => {
        if (claim.receiptId !== null) return settleAgain(claim, claim.receiptId, by)
        const receipt = signPaymentReceipt(parts, claim, by)
        const settled = await store.settleClaim({
          id: claim.id,
          transaction: by.transaction,
          receipt,
          block: toStored(by.block),
          transactionId: newId('txn', receipt.createdAt),
          upstream: by.upstream,
          isTrusted: by.isTrusted,
          now: receipt.createdAt,
        })
        if (settled?.state === 'settled') losses?.paid(claim)
        return settled?.state === 'settled'
          ? { state: 'settled', claim: settled, receipt }
          : standingOf(settled ?? claim)
      })
    },

    failed: (claim, reason, upstream) =>
      write(claim, 'failed', () => fail(claim, { reason, upstream, isWatched: false })),
    failedForNow: (claim, reason, upstream) =>
      write(claim, 'failed', () => fail(claim, { reason, upstream, isWatched: true })),
    endWatch: (claim) =>
      write(claim, 'failed', async () => {
        const ended = await store.endWatch(claim.id, now())
        return ended ? failure(ended) : standingOf(claim)
      }),

    doubtful(claim, to, { reason, transaction, upstream }) {
      return write(claim, to, async () => {
        const moved = await store.moveClaim({ id: claim.id, to, reason, transaction, upstream, now: now() })
        if (moved && reason === REVERTED && claim.reason !== REVERTED) losses?.lost(claim)
        return moved ? { state: to, claim: moved } : standingOf(claim)
      })
    },

    standing: (claim) => write(claim, 'read', () => standingOf(claim)),
    unwritten: () => [...unwritten],
    forget: (claimId) => void unwritten.delete(claimId),
  }
}

/**
 * Whether a failed settlement is paid for all the same, by the free ones of the month or by a credit: its transaction was mined and
 * reverted at the operator's cost. Whoever makes wallets that revert by the hundred would otherwise have as many as it likes.
 */
const burntGas = ({ reason }: PaymentClaim, upstream: string | null): boolean =>
  upstream === LOCAL && reason === REVERTED

/** For payers of a watched claim. */
const LATE =
  'Should this one be settled after all before it expires, its claim shows that and holds what it bought; ' +
  'cancelAuthorization rules that out.'

const toStored = (block: ChainBlock | undefined) =>
  block && { number: Number(block.number), hash: block.hash }

/** Sentences for people, by stable reason; a reason of an upstream that is not here is shown as it is. */
const WORDS = new Map(
  Object.entries({
    authorization_canceled: 'The payer took the authorization back before it was settled.',
    authorization_used_otherwise: 'The nonce of the authorization was used for another transfer.',
    authorization_expired: 'The authorization expired before it was settled.',
    insufficient_funds: 'The payer does not have enough of the asset.',
    invalid_exact_evm_payload_authorization_valid_before:
      'The authorization would have expired before it was in a block, so it was not sent.',
    invalid_exact_evm_transaction_simulation_failed: 'The token refuses the transfer.',
    invalid_exact_evm_insufficient_balance: 'The payer does not have enough of the asset.',
    invalid_exact_evm_nonce_already_used: 'The nonce of the authorization is used up.',
  }),
)

/** Endings that nobody but the payer brings about, who had a good payment when it was taken: see payer-losses.ts. */
const PAYERS_DOING: ReadonlySet<string> = new Set([
  'authorization_canceled',
  'authorization_used_otherwise',
  'insufficient_funds',
  'invalid_exact_evm_insufficient_balance',
  'invalid_exact_evm_nonce_already_used',
])

/** One that reverted counts once, as it does; and not where it only came too late, which is our doing, or its chain's. */
const isPayersDoing = ({ state, reason: before }: PaymentClaim, reason: string): boolean =>
  before === REVERTED ? state !== 'unknown' && reason !== 'authorization_expired' : PAYERS_DOING.has(reason)

/**
 * Whether a failed claim may still settle: whoever has its authorization could use it. Its payer may pay again; the money is
 * not lost if this one moves too.
 */
export const isWatched = ({ state, finishedAt }: PaymentClaim) => state === 'failed' && finishedAt === null

/** A failed claim as a settlement: its reason, and the sentence for whoever paid. */
export function failure(claim: PaymentClaim): Settlement & { state: 'failed' } {
  const reason = claim.reason ?? 'unexpected_settle_error'
  const why = WORDS.get(reason) ?? `The payment could not be settled: ${reason}.`
  return {
    state: 'failed',
    claim,
    reason,
    message: `${why} Nothing was charged. Sign a new payment and try again.${isWatched(claim) ? ` ${LATE}` : ''}`,
  }
}
