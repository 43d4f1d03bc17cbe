// Compares the ledger with the chains: every payout that it counts as sent is looked for, and every sum is made again.
import type { z } from 'zod'
import type { PayoutProof } from '../../../schemas/market-money.ts'
import type { Networks } from '../../core/networks.ts'
import type { EvidenceReader } from '../../payments/chain-evidence.ts'
import { toQuestion } from '../../payments/transfers.ts'
import { JWS_TYPES } from '../../receipts/types.ts'
import type { LedgerProof, Payout, Store } from '../../store/ports.ts'

export interface ProofParts {
  readonly store: Store
  readonly networks: Networks
  readonly evidence: EvidenceReader
  /** @returns the payload of a document that this gateway signed */
  readonly verifyOwn: (jws: string, typ: string) => Readonly<Record<string, unknown>> | undefined
}

export async function provePayouts(
  { store, networks, evidence, verifyOwn }: ProofParts,
  page: { readonly limit: number; readonly before?: string | undefined },
): Promise<z.output<typeof PayoutProof>> {
  const { items, next } = await store.listPayouts({ ...page, isSettled: true })

  async function lookAt(payout: Payout) {
    const { amount, transaction } = payout
    const question = toQuestion({ ...payout, amount: amount.toString() })
    const found = await evidence.read(question, transaction ?? undefined)
    const isSame = found.state === 'paid' && found.transaction === transaction
    const isSilent = ['unanswered', 'unprovable', 'shallow'].includes(found.state)
    return {
      payout_id: payout.id,
      seller: payout.sellerId,
      network: payout.network,
      amount_atomic: amount.toString(),
      transaction,
      chain: isSame ? ('proven' as const) : isSilent ? ('unanswered' as const) : ('missing' as const),
      receipt: (await saysTheSame(payout)) ? ('valid' as const) : ('invalid' as const),
    }
  }

  async function saysTheSame({ id, amount, recipient, transaction, receiptId }: Payout): Promise<boolean> {
    const stored = receiptId === null ? undefined : await store.getReceipt(receiptId)
    const said = stored && verifyOwn(stored.jws, JWS_TYPES.receipt)
    return (
      said?.['payout_id'] === id &&
      said['amount'] === amount.toString() &&
      said['to'] === recipient &&
      said['transaction'] === transaction
    )
  }

  const payouts = await Promise.all(items.map(lookAt))
  const ledger = await Promise.all(networks.all.map(({ network }) => proveLedger(store, network)))
  const isSound = payouts.every(({ chain, receipt }) => chain !== 'missing' && receipt === 'valid')
  return { ok: isSound && ledger.every(({ ok }) => ok), payouts, ledger, next }
}

/** Money moves while it is counted: what does not agree is counted again before it is said. */
const COUNTS = 3

async function proveLedger(store: Store, network: string): Promise<LedgerShown> {
  for (let left = COUNTS; ; left--) {
    const shown = toLedger(network, await store.proveMarketLedger(network))
    if (shown.ok || left <= 1) return shown
  }
}

type LedgerShown = z.output<typeof PayoutProof>['ledger'][number]

function toLedger(network: string, { sums, underWay, unbalanced }: LedgerProof): LedgerShown {
  const sum = sums.cash + sums.fees + sums.seller + sums.retained + sums.transit
  return {
    network,
    sum_atomic: sum.toString(),
    under_way_atomic: underWay.toString(),
    transit_atomic: sums.transit.toString(),
    unbalanced_accounts: unbalanced,
    ok: sum === 0 && underWay === sums.transit && unbalanced === 0,
  }
}
