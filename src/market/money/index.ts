// The market's money as handlers see it.
import type { SignedReceipt } from '../../../schemas/receipt.ts'
import { GatewayError } from '../../core/errors.ts'
import { type Chain, ChainError } from '../../payments/chain-ports.ts'
import type { Refunds } from '../../payments/refunds.ts'
import { toReceipt } from '../../receipts/types.ts'
import type { Payout, PayoutBatch, StoredReceipt } from '../../store/ports.ts'
import type { MarketSettings } from '../settings.ts'
import { explainFee } from './fee-words.ts'
import { createPayouts, type PayoutParts, type Payouts } from './payouts.ts'
import type { MarketMoney } from './ports.ts'
import { provePayouts, type ProofParts } from './proof.ts'
import { refundSale } from './seller-refunds.ts'
import { readStatement } from './statements.ts'
import { toBatch, toPublicPayout } from './wire.ts'

export interface MoneyParts extends Omit<PayoutParts, 'readSettings'>, ProofParts {
  readonly chains: ReadonlyMap<string, Chain>
  readonly refunds: Refunds
  /** A stored receipt whose key was revoked is shown signed anew. */
  readonly renewReceipt: (receipt: StoredReceipt) => StoredReceipt
  readonly readSettings: () => Promise<MarketSettings>
}

/** What whoever asked for a run waits for; it goes on without them. */
const PATIENCE_MS = 20_000
/** Payouts of a batch that its summary reads. */
const SUMMED = 100

export function createMarketMoney(parts: MoneyParts): {
  readonly money: MarketMoney
  readonly payouts: Payouts
} {
  const { store, networks, chains, baseUrl, renewReceipt, readSettings } = parts
  const payouts = createPayouts(parts)

  async function receiptOf({ receiptId }: Payout): Promise<SignedReceipt | null> {
    const stored = receiptId === null ? undefined : await store.getReceipt(receiptId)
    return stored ? toReceipt(baseUrl, renewReceipt(stored)) : null
  }
  const showBatch = async (batch: PayoutBatch) =>
    toBatch(batch, (await store.listPayouts({ batchId: batch.id, limit: SUMMED })).items)
  const showBatches = async (batches: readonly PayoutBatch[]) => {
    const newest = await store.listPayoutBatches(50)
    return Promise.all(
      batches.map(({ id, ...batch }) =>
        showBatch(newest.find((other) => other.id === id) ?? { id, ...batch }),
      ),
    )
  }

  /** @throws {GatewayError} not_found, where no seller belongs to the account */
  async function sellerOf(accountId: string) {
    const seller = await store.findSellerOfAccount(accountId)
    if (!seller)
      throw new GatewayError(
        'not_found',
        'No seller belongs to this key. Register one: gateway.marketplace.sellers.register.',
      )
    return seller
  }

  async function heldOn(network: string): Promise<string | null> {
    if (payouts.account === undefined) return null
    try {
      return (await chains.get(network)?.balanceOf(payouts.account))?.toString() ?? null
    } catch (thrown) {
      if (thrown instanceof ChainError) return null
      throw thrown
    }
  }

  async function showNetwork(network: string) {
    const sums = await store.sumMarketBalances(network)
    return {
      network,
      held_atomic: await heldOn(network),
      cash_atomic: (0 - sums.cash).toString(),
      fees_atomic: sums.fees.toString(),
      owed_atomic: sums.seller.toString(),
      retained_atomic: sums.retained.toString(),
      under_way_atomic: sums.transit.toString(),
    }
  }

  const money: MarketMoney = {
    async explainFee(amountAtomic) {
      const { fee } = await readSettings()
      return explainFee(amountAtomic, {
        bps: fee.bps,
        fixedAtomic: fee.fixed_atomic,
        minimumAtomic: fee.minimum_atomic,
      })
    },
    async payouts({ seller: sellerId, ...page }) {
      const { items, next } = await store.listPayouts({ ...page, sellerId, isSettled: true })
      const shown = items.map(async (payout) => toPublicPayout(payout, await receiptOf(payout)))
      return { payouts: await Promise.all(shown), next }
    },
    async run(minimum) {
      if (payouts.account === undefined) return { state: 'no_account', batches: [] }
      const begun = await payouts.run({ minimum, patienceMs: PATIENCE_MS }).catch((thrown: unknown) => {
        if (!(thrown instanceof ChainError)) throw thrown
        const detail =
          'A chain does not answer. What was begun is gone on with every minute; nobody is paid twice.'
        throw new GatewayError('payments_unavailable', detail, { cause: thrown })
      })
      if (!begun) return { state: 'busy', batches: [] }
      const batches = await showBatches(begun)
      const isDone = batches.every(({ finished_at }) => finished_at !== null)
      return { state: isDone ? 'done' : 'running', batches }
    },
    async overview() {
      const [held, batches, holds] = await Promise.all([
        Promise.all(networks.all.filter(({ revenue }) => revenue).map(({ network }) => showNetwork(network))),
        store.listPayoutBatches(10),
        store.listPayoutHolds({}),
      ])
      return {
        account: payouts.account ?? null,
        networks: held,
        batches: await Promise.all(batches.map(showBatch)),
        kept: holds.map(({ sellerId, network, reason, since }) => ({
          seller: sellerId,
          network,
          reason,
          since: new Date(since).toISOString(),
        })),
      }
    },
    verify: (page) => provePayouts(parts, page),
    async statement(accountId, query) {
      const { id } = await sellerOf(accountId)
      const { payouts: settings } = await readSettings()
      return readStatement(parts, id, { ...query, minimumAtomic: settings.minimum_atomic })
    },
    async refund(accountId, request) {
      const { id } = await sellerOf(accountId)
      return refundSale(parts, { sellerId: id, accountId }, request)
    },
  }
  return { money, payouts }
}
