// Credits that the call path takes by itself, in a debit of their own before the run. It ends once: with a signed receipt that is
// stored before the call is answered, or by being given back. What a dead process left between the two is given back.
import type { SignedReceipt } from '../../schemas/receipt.ts'
import { everyTurn } from '../lib/every-turn.ts'
import { newId } from '../lib/ids.ts'
import type { Fault } from '../lib/fault-points.ts'
import type { Logger } from '../lib/log.ts'
import { retryLater } from '../lib/retry.ts'
import type { Budget, Store } from '../store/ports.ts'
import type { CreditedCall, SignCallReceipt } from './charging.ts'
import { type GatewayError, gatewayFault } from './errors.ts'
import { type OnFault, uncounted } from './faults.ts'
import { recoverDead, rowsLeft } from './recovery.ts'

export interface DebitParts {
  readonly store: Pick<
    Store,
    'debitCredits' | 'settleDebit' | 'refundCredits' | 'recoverDebits' | 'listOpenDebits' | 'listDeadOwners'
  >
  readonly sign: SignCallReceipt
  /** The refusal by a budget that has no room. */
  readonly budgetSpent: (budget: Budget, now: number) => GatewayError
  readonly bootId: string
  readonly fault: Fault
  readonly log: Logger
  readonly now: () => number
  readonly onFault?: OnFault
}

/** What was taken, and for what. */
export type Debit = Pick<CreditedCall, 'accountId' | 'credits' | 'transactionId' | 'startedAt'>

export interface Debits {
  /**
   * @param wanted.reference what the ledger says of it
   * @param wanted.capabilityId on whose budgets it counts
   * @throws {GatewayError} budget_spent; and what the store throws: whatever it took all the same goes back
   */
  take(wanted: {
    readonly accountId: string
    readonly credits: number
    readonly reference: string
    readonly capabilityId?: string | undefined
  }): Promise<{ ok: true; debit: Debit; balance: number } | { ok: false; balance: number }>
  /**
   * Stores the receipt, from where on nothing is given back.
   * @throws {GatewayError} internal when somebody took this process for dead and gave the credits back
   */
  settle(
    debit: Debit,
    call: Pick<CreditedCall, 'tool' | 'requestDigest' | 'resultSha256'>,
  ): Promise<SignedReceipt>
  /** Never throws: what cannot be given back now is tried again, and at the latest by `recover`. */
  giveBack(debit: Debit): Promise<void>
  /** Gives back what dead processes left open, and what a store that was away could not give back. */
  recover(): Promise<void>
}

export function createDebits(parts: DebitParts): Debits {
  const { store, sign, budgetSpent, bootId, fault, log, now, onFault = uncounted } = parts
  const refund = (transactionId: string) => store.refundCredits({ transactionId, now: now() })
  /** Debits that a call goes on with. Whatever else of this process is open goes back, as nobody else's recovery does that while it lives. */
  const inHand = new Set<string>()
  let settling: Promise<void> | undefined

  /** @throws the first error of the store, once all were asked for */
  async function settleLeft(): Promise<void> {
    await everyTurn(rowsLeft(store.listOpenDebits, bootId, inHand), async ({ id }) => {
      const { ok } = await refund(id)
      if (ok) log.warn({ transaction_id: id }, 'credits that no call goes on with are given back')
    })
  }

  const recoverAll = () =>
    recoverDead({
      ...parts,
      list: store.listOpenDebits,
      async recover(id) {
        const { refunded } = await store.recoverDebits({ bootId, now: now(), id })
        if (refunded > 0)
          log.warn({ refunded }, 'gave back the credits of calls that a crash left unanswered')
      },
    })

  function settleSoon(): void {
    settling ??= retryLater(settleLeft)
      .catch((err: unknown) => {
        onFault('credits_kept')
        log.error({ err }, 'credits could not be given back yet: every minute it is tried again')
      })
      .finally(() => (settling = undefined))
  }

  return {
    async take({ accountId, credits, reference, capabilityId }) {
      const at = now()
      const transactionId = newId('txn', at)
      await fault.at('before_debit')
      inHand.add(transactionId)
      let debited: Awaited<ReturnType<Store['debitCredits']>>
      try {
        debited = await store.debitCredits({
          accountId,
          amount: credits,
          transactionId,
          bootId,
          reference,
          capabilityId,
          now: at,
        })
        await fault.at('after_debit')
      } catch (thrown) {
        // A store that fails does not say whether it took the credits, and nothing is done for them.
        inHand.delete(transactionId)
        settleSoon()
        throw thrown
      }
      const { ok, balance, budget } = debited
      if (!ok) inHand.delete(transactionId)
      if (budget) throw budgetSpent(budget, at)
      return ok
        ? { ok, balance, debit: { accountId, credits, transactionId, startedAt: at } }
        : { ok, balance }
    },

    async settle(debit, call) {
      const { stored, shown } = sign({ ...debit, ...call })
      const write = () => store.settleDebit({ transactionId: debit.transactionId, receipt: stored })
      await fault.at('before_receipt')
      // A store that fails does not say whether it has the receipt, and with one nothing goes back: it is asked once more.
      if (!(await write().catch(write)))
        throw gatewayFault('the credits of this call were given back by somebody else')
      inHand.delete(debit.transactionId)
      await fault.at('after_receipt')
      return shown
    },

    async giveBack({ transactionId }) {
      try {
        await refund(transactionId)
      } catch (first) {
        // The caller has to hear why the call failed and not that the store is away.
        log.error({ transaction_id: transactionId, err: first }, 'credits could not be given back yet')
        settleSoon()
      } finally {
        inHand.delete(transactionId)
      }
    },

    async recover() {
      await everyTurn([settleLeft, recoverAll], (part) => part())
    },
  }
}
