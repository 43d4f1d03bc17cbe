// Pays sellers what they are owed: one transfer for each seller of a network, in batches. One process runs a batch; what it wrote when
// it died is gone on with, and a payout whose amount has left the balance is never written again.
import { randomBytes } from 'node:crypto'
import { type OnFault, uncounted } from '../../core/faults.ts'
import type { Networks, PaymentNetwork } from '../../core/networks.ts'
import type { Fault } from '../../lib/fault-points.ts'
import { newId } from '../../lib/ids.ts'
import type { Logger } from '../../lib/log.ts'
import type { EvidenceReader } from '../../payments/chain-evidence.ts'
import type { Chain } from '../../payments/chain-ports.ts'
import type { Router } from '../../payments/ports.ts'
import type { TransferSigner } from '../../payments/transfer-signer.ts'
import { createTransfers, REORG_WINDOW_MS, type TransferBook, validUntil } from '../../payments/transfers.ts'
import type { Signer } from '../../receipts/ports.ts'
import type { Owed, Payout, PayoutBatch, Seller, Store } from '../../store/ports.ts'
import type { MarketSettings } from '../settings.ts'
import { findHold, type HoldReason, isSilence, readFailure, readRefusal } from './recipients.ts'
import { signPayoutReceipt } from './receipt.ts'
import { payoutPeriod } from './schedule.ts'

export interface PayoutParts {
  readonly store: Store
  readonly networks: Networks
  /** By CAIP-2 id. */
  readonly chains: ReadonlyMap<string, Pick<Chain, 'balanceOf' | 'findRefusal'>>
  readonly evidence: EvidenceReader
  readonly router: Pick<Router, 'routes'>
  readonly signer: Signer
  readonly baseUrl: string
  /** Undefined without a key: nothing is paid out then, and everything stays owed. */
  readonly account: TransferSigner | undefined
  /** Addresses of the gateway's own, lower-case: no seller is paid there. */
  readonly own: ReadonlySet<string>
  readonly findSeller: (id: string) => Promise<Pick<Seller, 'state' | 'payoutAddress'> | undefined>
  readonly readSettings: () => Promise<Pick<MarketSettings, 'payouts'>>
  readonly bootId: string
  /** What was earned lately may still be taken back by its chain, and waits. Nothing is in a sandbox, whose blocks stand. */
  readonly isSandbox: boolean
  readonly fault: Fault
  readonly now: () => number
  readonly log: Logger
  readonly onFault?: OnFault
}

export interface Payouts {
  /**
   * Pays everybody who is owed at least `minimum`, now. Answers when all were looked at, or `patienceMs` have passed: the run
   * goes on then. Rejects with what stopped the first network that could not be paid on, when the others are through.
   * @returns the batches that were begun; undefined where another process is at it
   */
  run(options: {
    readonly minimum: number | undefined
    readonly patienceMs: number
  }): Promise<readonly PayoutBatch[] | undefined>
  /** What is due, what was left open, and what became of what was sent. Never throws. */
  keep(): Promise<void>
  /** Ends a run behind the page that it is at, and leaves the lead to others: the next process need not wait for the lease. */
  close(): Promise<void>
  /** Lower-case; undefined where nothing is paid out. */
  readonly account: string | undefined
}

const LEASE = 'payouts'
/** Longer than a page takes: a process that dies keeps the others waiting for so long, and nobody is paid twice meanwhile. */
const LEASE_MS = 5 * 60_000
const PAGE = 32
/** Transfers that are under way at once; each waits for a block. */
const AT_ONCE = 8
/** So long a batch stays open for sellers whose payout something interrupted. After that they wait for the next one. */
const TRIED_MS = 60 * 60_000
/** Open transfers that are counted against what the account holds. */
const MOST_OPEN = 1_000

export function createPayouts(parts: PayoutParts): Payouts {
  const { store, networks, chains, account, own, fault, now, log, bootId, onFault = uncounted } = parts
  const book: TransferBook<Payout> = {
    noun: 'payout',
    toTransfer: ({ amount, ...payout }) => ({ ...payout, amount: amount.toString() }),
    fieldsOf: ({ id, sellerId }) => ({ payout: id, seller: sellerId }),
    get: store.getPayout,
    submit: store.submitPayout,
    async settle(payout, transaction) {
      const receipt = signPayoutReceipt(parts, payout, transaction)
      return store.settlePayout({ id: payout.id, transaction, receipt, now: receipt.createdAt })
    },
    fail: store.failPayout,
    reopen: store.reopenPayout,
    touch: store.touchPayout,
    listOpen: store.listOpenPayouts,
    listSettled: store.listSettledPayouts,
    finalize: store.finalizePayout,
  }
  const transfers = createTransfers({ ...parts, engine: store.engine }, book)
  let running: Promise<unknown> | undefined
  let isClosed = false

  /** Test money is owed to nobody. */
  const paidNetworks = () => networks.all.filter(({ network, revenue }) => revenue && chains.has(network))

  /** @returns whether this process may go on for a while */
  const lead = async () =>
    !isClosed &&
    store.takeLeadership({
      name: LEASE,
      holder: bootId,
      until: now() + LEASE_MS,
      isAlone: store.engine === 'sqlite',
      now: now(),
    })

  /** What the account can still send. @throws {ChainError} */
  async function fundsOf({ address }: TransferSigner, network: string): Promise<bigint> {
    const chain = chains.get(network)
    if (!chain) return 0n
    const held = await chain.balanceOf(address)
    const any = { before: Number.MAX_SAFE_INTEGER, limit: MOST_OPEN }
    const [refunds, payouts] = await Promise.all([store.listOpenRefunds(any), store.listOpenPayouts(any)])
    return [...refunds, ...payouts]
      .filter((open) => open.sender === address && open.network === network)
      .reduce((left, { amount }) => left - BigInt(amount), held)
  }

  const hold = (sellerId: string, network: string, reason: HoldReason) =>
    store.holdPayout({ sellerId, network, reason, now: now() })

  /** Networks whose chain was silent when it was last asked: their sellers know already. */
  const silent = new Set<string>()

  /** Asks the chain of a batch. Where it does not answer, whoever is owed from `after` on is told, once. @throws {ChainError} */
  async function asking<R>(batch: PayoutBatch, after: string | undefined, ask: () => Promise<R>): Promise<R> {
    const { network } = batch
    try {
      return await ask()
    } catch (thrown) {
      if (!silent.has(network)) await holdFrom(batch, after, readFailure(thrown))
      silent.add(network)
      throw thrown
    }
  }

  const pageOf = ({ network, minimum }: PayoutBatch, after: string | undefined) =>
    store.listOwed({ network, minimum, after, limit: PAGE })

  async function holdFrom(batch: PayoutBatch, first: string | undefined, reason: HoldReason): Promise<void> {
    for (let after = first; ;) {
      const page = await pageOf(batch, after)
      for (const { sellerId } of page) await hold(sellerId, batch.network, reason)
      after = page.at(-1)?.sellerId
      if (page.length < PAGE) return
    }
  }

  /**
   * Pays a seller, or keeps what it is owed and says why: no seller stops the others.
   * @returns whether it was looked at to the end
   * @throws {ChainError} where the chain is silent, which would cost a time-out for each seller
   */
  async function tryOne(
    signer: TransferSigner,
    batch: PayoutBatch,
    network: PaymentNetwork,
    owed: Owed,
  ): Promise<boolean> {
    try {
      await payOne(signer, batch, network, owed)
      return true
    } catch (thrown) {
      // A store that does not answer throws here, too, and ends the page.
      await hold(owed.sellerId, batch.network, readFailure(thrown))
      if (isSilence(thrown)) throw thrown
      onFault('transfer_interrupted')
      log.error(
        { seller: owed.sellerId, network: batch.network, err: thrown },
        'a payout could not be begun, and is kept as owed',
      )
      return false
    }
  }

  async function payOne(
    signer: TransferSigner,
    batch: PayoutBatch,
    network: PaymentNetwork,
    { sellerId, owed }: Owed,
  ): Promise<void> {
    const seller = await parts.findSeller(sellerId)
    const barred = findHold(seller, network, own)
    if (barred !== undefined || !seller) return hold(sellerId, batch.network, barred ?? 'seller_unknown')
    const transfer = { from: signer.address, to: seller.payoutAddress.toLowerCase(), value: BigInt(owed) }
    const refused = await askToken(transfer, batch.network)
    if (refused !== undefined) {
      log.warn({ seller: sellerId, reason: refused }, 'a payout is kept as owed')
      return hold(sellerId, batch.network, refused)
    }
    const createdAt = now()
    const recorded = await store.recordPayout({
      payout: {
        id: newId('pay', createdAt),
        batchId: batch.id,
        sellerId,
        network: batch.network,
        asset: network.asset.address.toLowerCase(),
        recipient: transfer.to,
        sender: signer.address,
        nonce: `0x${randomBytes(32).toString('hex')}`,
        validBefore: validUntil(createdAt),
        createdAt,
      },
      minimum: batch.minimum,
      before: parts.isSandbox ? Number.MAX_SAFE_INTEGER : createdAt - REORG_WINDOW_MS,
    })
    if (!recorded.ok) return
    await fault.at('after_payout_recorded')
    await transfers.send(recorded.payout)
  }

  /** Asks the token whether it would take the transfer; nothing is signed for that. @throws {ChainError} */
  const askToken = async (
    { from, to, value }: { from: string; to: string; value: bigint },
    network: string,
  ) => readRefusal((await chains.get(network)?.findRefusal({ from, to, value })) ?? null)

  /** @returns whether it came to the batch's end, with nobody left to try again soon. @throws {ChainError} */
  async function runBatch(signer: TransferSigner, batch: PayoutBatch): Promise<boolean> {
    const network = networks.find(batch.network)
    if (!network) return false
    let isWhole = true
    for (let after: string | undefined; ;) {
      if (!(await lead())) return false
      const page = await pageOf(batch, after)
      let funds = page.length > 0 ? await asking(batch, after, () => fundsOf(signer, batch.network)) : 0n
      const affordable: Owed[] = []
      for (const one of page) {
        const { sellerId, owed } = one
        if (BigInt(owed) > funds) {
          await hold(sellerId, batch.network, 'payout_account_short')
          onFault('payout_underfunded')
          log.error(
            { seller: sellerId, owed, account: signer.address },
            'the payout account holds too little',
          )
          continue
        }
        funds -= BigInt(owed)
        affordable.push(one)
      }
      const payAll = () =>
        eachOf(affordable, AT_ONCE, async (one) => {
          isWhole = (await tryOne(signer, batch, network, one)) && isWhole
        })
      await asking(batch, after, payAll)
      if (page.length > 0) silent.delete(batch.network)
      await fault.at('after_payout_page')
      const last = page.at(-1)
      if (page.length < PAGE || !last) break
      after = last.sellerId
    }
    if (!isWhole && now() < batch.createdAt + TRIED_MS) return false
    await store.finishPayoutBatch(batch.id, now())
    return true
  }

  const openBatch = (network: string, minimum: number, period: string | undefined) => {
    const createdAt = now()
    const id = newId('pbt', createdAt)
    return store.openPayoutBatch({ id, network, period: period ?? id, minimum, createdAt })
  }

  /**
   * Batches that a run left open, then the one of this period, if anybody is owed as much. What stops a network stops no other, and
   * nothing more is begun there: the batch that is open is gone on with in the next round.
   */
  async function runDue(signer: TransferSigner): Promise<void> {
    const stopped = new Set<string>()
    const runOn = async (batch: PayoutBatch) => {
      if (stopped.has(batch.network)) return
      try {
        if (!(await runBatch(signer, batch))) stopped.add(batch.network)
      } catch (thrown) {
        stopped.add(batch.network)
        onFault('upkeep_failed')
        log.error({ network: batch.network, err: thrown }, 'nobody could be paid on a network')
      }
    }
    for (const batch of await store.listOpenPayoutBatches()) await runOn(batch)
    const { payouts } = await parts.readSettings()
    const period = payoutPeriod(payouts, now())
    if (period === undefined) return
    for (const { network } of paidNetworks()) {
      const minimum = payouts.minimum_atomic
      if (stopped.has(network)) continue
      if ((await store.listOwed({ network, minimum, limit: 1 })).length === 0) continue
      const batch = await openBatch(network, minimum, period)
      if (batch.finishedAt === null) await runOn(batch)
    }
  }

  /** A batch of each network; those that were begun are pushed to `begun` meanwhile. Rejects as `Payouts.run` does. */
  async function runAll(signer: TransferSigner, minimum: number, begun: PayoutBatch[]): Promise<void> {
    const failures: unknown[] = []
    for (const { network } of paidNetworks()) {
      const batch = await openBatch(network, minimum, undefined)
      begun.push(batch)
      await runBatch(signer, batch).catch((thrown: unknown) => failures.push(thrown))
    }
    if (failures.length > 0) throw failures[0]
  }

  /** One run at a time in this process, and one process at a time. @returns undefined where another one is at it */
  async function alone<R>(work: () => Promise<R>): Promise<R | undefined> {
    if (running) return undefined
    // Nobody comes in between while the lease is asked for, nor before it is given back.
    const lone = leading(work).finally(() => (running = undefined))
    running = lone
    return lone
  }

  async function leading<R>(work: () => Promise<R>): Promise<R | undefined> {
    if (!(await lead())) return undefined
    try {
      return await work()
    } finally {
      await store.giveUpLeadership({ name: LEASE, holder: bootId })
    }
  }

  /** The same, behind what this process is at already: housekeeping's look is over in a moment. */
  async function afterOthers<R>(work: () => Promise<R>): Promise<R | undefined> {
    if (!running) return alone(work)
    await running.catch(() => undefined)
    return afterOthers(work)
  }

  return {
    account: account?.address,
    async close() {
      isClosed = true
      await running?.catch(() => undefined)
    },
    async run({ minimum, patienceMs }) {
      if (!account) return []
      const { payouts } = await parts.readSettings()
      const begun: PayoutBatch[] = []
      const work = afterOthers(async () => {
        await runAll(account, minimum ?? payouts.minimum_atomic, begun)
        return begun
      })
      // The run goes on behind the answer: what fails then is in the log, and housekeeping goes on with it.
      work.catch((thrown: unknown) => {
        onFault('transfer_interrupted')
        log.error({ err: thrown }, 'a payout run was interrupted')
      })
      let timer: NodeJS.Timeout | undefined
      const patience = new Promise<readonly PayoutBatch[]>((resolve) => {
        timer = setTimeout(() => resolve(begun), patienceMs)
      })
      try {
        return await Promise.race([work, patience])
      } finally {
        clearTimeout(timer)
      }
    },
    async keep() {
      try {
        await transfers.reconcile()
        if (account && !isClosed) await alone(() => runDue(account))
      } catch (thrown) {
        onFault('upkeep_failed')
        log.error({ err: thrown }, 'payouts could not be run')
      }
    },
  }
}

/** Runs the work for each, so many at once. Rejects with the first failure when all that was begun has ended. */
async function eachOf<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const left = items.values()
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const item of left) await work(item)
  })
  const failed = (await Promise.allSettled(workers)).find(({ status }) => status === 'rejected')
  if (failed?.status === 'rejected') throw failed.reason
}
