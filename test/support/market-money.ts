// What must hold of the market's ledger at any moment.
import type { CommandName, Commands } from '../../src/store/commands/index.ts'
import type { NewPaymentClaim, Sale, ServiceOutcome, Store } from '../../src/store/ports.ts'
import { newClaim, NOW, type Place, receiptFor, settling, submission } from './store.ts'

/** Everything that is wrong with the market's ledger: nothing, or money was made or lost. */
export async function marketLedgerFaults(place: Pick<Place, 'query'>): Promise<unknown[]> {
  const unbalanced = await place.query(
    `SELECT transaction_id, network, CAST(sum(amount) AS BIGINT) AS total FROM market_entries
     GROUP BY transaction_id, network HAVING sum(amount) <> 0`,
  )
  const networks = await place.query(
    'SELECT network FROM market_balances GROUP BY network HAVING sum(balance) <> 0',
  )
  const balances = await place.query(
    `SELECT b.account, b.network FROM market_balances b WHERE b.balance <>
       (SELECT COALESCE(sum(amount), 0) FROM market_entries e WHERE e.account = b.account AND e.network = b.network)
     OR b.entries <> (SELECT count(*) FROM market_entries e WHERE e.account = b.account AND e.network = b.network)`,
  )
  const running = await place.query(
    `SELECT e.account, e.seq FROM market_entries e WHERE e.balance <>
       (SELECT sum(amount) FROM market_entries o WHERE o.account = e.account AND o.network = e.network AND o.seq <= e.seq)`,
  )
  return [...unbalanced, ...networks, ...balances, ...running]
}

/** Terms of a sale of 1000 atomic units, of which the platform keeps 3 %. */
export const saleOf = (sellerId: string, over: Partial<Sale> = {}): Sale => ({
  sellerId,
  serviceId: 'weather',
  listingVersion: 3,
  route: 'GET /',
  fee: { bps: 300, fixedAtomic: 0, minimumAtomic: 0 },
  feeAtomic: '30',
  proceedsAtomic: '970',
  payoutMode: 'batched_onchain',
  ...over,
})

/** A sale that is paid. @returns its claim */
export async function sell(
  store: Store,
  bootId: string,
  sale: Sale,
  { at = NOW + 3, ...over }: Partial<NewPaymentClaim> & { at?: number } = {},
): Promise<NewPaymentClaim> {
  const amount = (BigInt(sale.feeAtomic) + BigInt(sale.proceedsAtomic)).toString()
  const claim = newClaim({ tool: 'gateway.marketplace.call', amount, ...over })
  const claimed = await store.claimPayment({ claim, bootId, sale })
  if (!claimed.ok) throw new Error(claimed.reason)
  await store.submitClaim(submission(claim.id, bootId))
  if (!(await store.settleClaim({ ...settling(claim.id), now: at }))) throw new Error('not settled')
  return claim
}

/** Sells what the paid calls among these outcomes bought. @returns the outcomes, which name their sales */
export async function sold(
  store: Store,
  bootId: string,
  outcomes: readonly ServiceOutcome[],
): Promise<ServiceOutcome[]> {
  const name = async (outcome: ServiceOutcome): Promise<ServiceOutcome> => {
    if (outcome.kind !== 'settled') return outcome
    const { sellerId, serviceId, environment, payer, amount, at } = outcome
    const shares = { serviceId, feeAtomic: '0', proceedsAtomic: String(amount) }
    const network = environment === 'live' ? 'eip155:8453' : 'eip155:84532'
    const { id: claimId } = await sell(store, bootId, saleOf(sellerId, shares), { payer, network, at })
    return { ...outcome, claimId }
  }
  return Promise.all(outcomes.map(name))
}

/** Every command of payouts that writes, once. */
export function runPayoutCommands(
  run: <K extends CommandName>(name: K, ...args: Parameters<Commands[K]>) => void,
  bootId: string,
): void {
  const sold = newClaim()
  const { network } = sold
  run('claimPayment', { claim: sold, bootId, sale: saleOf('paid') })
  run('submitClaim', submission(sold.id, bootId))
  run('settleClaim', settling(sold.id))
  run('takeLeadership', { name: 'payouts', holder: bootId, until: NOW + 1, isAlone: false, now: NOW })
  run('openPayoutBatch', { id: 'pbt_1', network, period: 'p', minimum: 1, createdAt: NOW })
  const payout = {
    batchId: 'pbt_1',
    sellerId: 'paid',
    network,
    asset: '0xa',
    recipient: '0xb',
    sender: '0xc',
    validBefore: NOW + 1,
    createdAt: NOW,
  }
  const receipt = receiptFor('')
  for (const id of ['pay_1', 'pay_2']) {
    run('recordPayout', { payout: { ...payout, id, nonce: id }, minimum: 1, before: NOW + 100 })
    run('touchPayout', id, NOW)
    run('submitPayout', { id, tries: 0, now: NOW })
    if (id === 'pay_1') run('failPayout', { id, failure: 'expired', now: NOW })
  }
  run('settlePayout', { id: 'pay_2', transaction: '0xd', receipt, now: NOW })
  run('finalizePayout', 'pay_2', NOW)
  run('reopenPayout', { id: 'pay_2', receiptId: receipt.id, now: NOW })
  run('holdPayout', { sellerId: 'paid', network, reason: 'x', now: NOW })
  run('finishPayoutBatch', 'pbt_1', NOW)
  run('giveUpLeadership', { name: 'payouts', holder: bootId })
}
