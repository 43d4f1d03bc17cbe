// Sends money that leaves, refunds and payouts alike: the row with its nonce is on disk first, then one EIP-3009 transfer is signed and
// sent, and the chain says what became of it. However often a process dies in between, a nonce is spent once.
import { type OnFault, uncounted } from '../core/faults.ts'
import type { Networks } from '../core/networks.ts'
import type { Logger } from '../lib/log.ts'
import type { Millis } from '../store/model.ts'
import type { Evidence, EvidenceReader, Transfer } from './chain-evidence.ts'
import type { Router, UpstreamSettlement } from './ports.ts'
import type { OutgoingTransfer, TransferSigner } from './transfer-signer.ts'

/** A row of money that leaves: `recorded -> submitted -> settled | failed`. */
interface TransferRow {
  readonly id: string
  /** How often somebody set out to send it. */
  readonly tries: number
  readonly transaction: string | null
  readonly receiptId: string | null
  readonly finishedAt: Millis | null
}

/** The table that the transfers of one kind are rows of; each step compares the state before it sets. */
export interface TransferBook<T extends TransferRow> {
  /** For the log. */
  readonly noun: 'refund' | 'payout'
  toTransfer(row: T): OutgoingTransfer
  /** What the log says of a row. */
  fieldsOf(row: T): Readonly<Record<string, string>>
  get(id: string): Promise<T | undefined>
  /** Durable before a byte leaves; undefined where somebody else set out since `tries`, or it is not due. */
  submit(input: { id: string; tries: number; now: Millis }): Promise<T | undefined>
  /** Why it is never due again, in a word for `failure`; undefined while it is or may be. */
  cancelReason?(row: T): Promise<string | undefined>
  /** Once, with its receipt. */
  settle(row: T, transaction: string): Promise<T | undefined>
  fail(input: { id: string; failure: string; tries?: number; now: Millis }): Promise<T | undefined>
  /** Its chain replaced the block, and its receipt is withdrawn. */
  reopen(input: { id: string; receiptId: string; now: Millis }): Promise<T | undefined>
  touch(id: string, now: Millis): Promise<void>
  listOpen(input: { before: Millis; limit: number }): Promise<readonly T[]>
  /** Those that are not final, oldest first, behind `after`. */
  listSettled(input: {
    after: Pick<TransferRow, 'id' | 'finishedAt'> | undefined
    limit: number
  }): Promise<readonly T[]>
  /** Nothing replaces its block any more. */
  finalize(id: string, now: Millis): Promise<void>
}

export interface TransferParts {
  readonly engine: 'sqlite' | 'postgres'
  readonly networks: Networks
  readonly evidence: EvidenceReader
  readonly router: Pick<Router, 'routes'>
  /** Undefined where no account is configured: nothing is sent then. */
  readonly account: TransferSigner | undefined
  readonly now: () => number
  readonly log: Logger
  readonly onFault?: OnFault
}

export interface Transfers<T> {
  /** Sends a row that was just recorded. Never throws. @returns the row as it stands then */
  send(row: T): Promise<T>
  /** Looks once at every open transfer, and whether what settled lately still is. Never throws. */
  reconcile(): Promise<void>
}

/** So long a transfer may be sent, again and again; what is not in a block by then never is. */
const VALID_MS = 30 * 60_000
/** Chains count in seconds: the row says what is signed. */
export const validUntil = (createdAt: Millis): Millis => Math.floor((createdAt + VALID_MS) / 1000) * 1000
const UPSTREAM_MS = 20_000
/** Another replica may be sending: its upstream has twenty seconds. */
const LEASE_MS = 30_000
/** Ethereum calls a block final after thirteen minutes; the others that are pinned are faster. */
export const REORG_WINDOW_MS = 15 * 60_000
const BATCH = 100
/** Of settled ones, in a round. */
const MOST_PAGES = 10

/** The question that its chain is asked. */
export const toQuestion = ({ sender, recipient, ...transfer }: OutgoingTransfer): Transfer => ({
  ...transfer,
  payer: sender,
  payTo: recipient,
})

export function createTransfers<T extends TransferRow>(
  parts: TransferParts,
  book: TransferBook<T>,
): Transfers<T> {
  const { engine, networks, evidence, router, account, now, log, onFault = uncounted } = parts
  const { noun, toTransfer } = book
  /** Rows that this process is working on. */
  const busy = new Set<string>()
  const asItStands = async (row: T): Promise<T> => (await book.get(row.id)) ?? row
  const questionOf = (row: T) => toQuestion(toTransfer(row))

  /**
   * Sends it once, by the first upstream that takes it. A later round may choose another one, unlike with a buyer's payment:
   * nobody waits for an answer that could differ, and the nonce is spent once whoever submits it.
   */
  async function submit(row: T): Promise<T> {
    const transfer = toTransfer(row)
    const network = networks.find(transfer.network)
    // A replaced key cannot sign for the account of before: the transfer expires, and is then recorded anew.
    if (!network || !account || account.address !== transfer.sender) return row
    const routes = await router.routes({ x402Version: 2, scheme: 'exact', network: transfer.network })
    const sent = await book.submit({ id: row.id, tries: row.tries, now: now() })
    if (!sent) return cancel(row)
    const signed = account.sign(toTransfer(sent), network)
    let answer: UpstreamSettlement = { state: 'refused', reason: 'no_route' }
    for (const { upstream } of routes) {
      answer = await upstream.settle({ ...signed, deadlineMs: UPSTREAM_MS })
      if (answer.state !== 'refused') break
    }
    const question = questionOf(sent)
    if (answer.state === 'settled' && answer.isWitnessed && evidence.countsAtOnce(question))
      return settle(sent, answer.transaction)
    const found = await evidence.read(question, 'transaction' in answer ? answer.transaction : undefined)
    const isPassing = answer.state === 'refused' && answer.reason === 'settlers_busy'
    if (found.state === 'unused' && answer.state === 'refused' && !isPassing && sent.tries === 1) {
      // Nothing of it has left, and nobody else has set out to send it: who has the signature forgets it here.
      const failed = await book.fail({ id: sent.id, failure: answer.reason, tries: 1, now: now() })
      if (failed) return failed
    }
    return conclude(sent, found)
  }

  /** Ends one that is never due again. What was signed once may still be submitted: such a one ends as its chain says. */
  async function cancel(row: T): Promise<T> {
    const reason = row.tries === 0 ? await book.cancelReason?.(row) : undefined
    return reason === undefined ? asItStands(row) : fail(row, reason, 0)
  }

  /** Writes what the chain says. */
  async function conclude(row: T, found: Evidence): Promise<T> {
    if (found.state === 'paid') return settle(row, found.transaction)
    return found.state === 'void' ? fail(row, found.reason) : asItStands(row)
  }

  /** @param tries as of `TransferBook.fail` */
  async function fail(row: T, reason: string, tries?: number): Promise<T> {
    const failed = await book.fail({
      id: row.id,
      failure: reason,
      now: now(),
      ...(tries !== undefined && { tries }),
    })
    if (failed) log.warn({ ...book.fieldsOf(row), reason }, `a ${noun} failed`)
    return failed ?? (await asItStands(row))
  }

  const settle = async (row: T, transaction: string): Promise<T> =>
    (await book.settle(row, transaction)) ?? (await asItStands(row))

  /** Runs work on a row, unless this process is at it already. */
  async function alone(row: T, work: () => Promise<T>): Promise<T> {
    if (busy.has(row.id)) return row
    busy.add(row.id)
    try {
      return await work()
    } catch (thrown) {
      // It is on disk, and the next round goes on with it.
      onFault('transfer_interrupted')
      log.error({ ...book.fieldsOf(row), err: thrown }, `a ${noun} was interrupted`)
      return row
    } finally {
      busy.delete(row.id)
    }
  }

  /** @param silent networks whose chain did not answer in this round: one time-out for each is enough */
  async function read(
    question: Transfer,
    silent: Set<string>,
    transaction?: string | undefined,
  ): Promise<Evidence> {
    if (silent.has(question.network)) return { state: 'unanswered' }
    const found = await evidence.read(question, transaction)
    // A node that is behind answers, and may show the next one as paid.
    if (found.state === 'unanswered' && !found.isBehind) silent.add(question.network)
    return found
  }

  async function lookAgain(row: T, silent: Set<string>): Promise<T> {
    // One of a silent chain goes behind the others, too, or a hundred of them would keep those of all other chains waiting.
    await book.touch(row.id, now())
    const found = await read(questionOf(row), silent)
    // One that nobody has signed yet is on no chain, whatever its node has read: on some, blocks come only when somebody sends.
    const isFirst = row.tries === 0 && found.state === 'unanswered' && found.isBehind === true
    const isSendable = (found.state === 'unused' || isFirst) && now() < toTransfer(row).validBefore
    return isSendable ? submit(row) : conclude(row, found)
  }

  /** A settled transfer whose chain replaced the block is sent again, or waits for its end. */
  async function lookAtSettled(row: T, silent: Set<string>): Promise<T> {
    const { transaction, receiptId } = row
    const question = { ...questionOf(row), settledAt: row.finishedAt }
    const found = await read(question, silent, transaction ?? undefined)
    if (found.state === 'paid' && found.transaction.toLowerCase() === transaction?.toLowerCase()) {
      // Found so long after it settled, its block is final.
      if (now() >= (row.finishedAt ?? 0) + REORG_WINDOW_MS) await book.finalize(row.id, now())
      return row
    }
    // The transfer may be in a block again through another transaction: its receipt has to name that one.
    if (found.state !== 'unused' && found.state !== 'void' && found.state !== 'paid') return row
    const reopened = await book.reopen({ id: row.id, receiptId: receiptId ?? '', now: now() })
    if (!reopened) return row
    log.warn(
      { ...book.fieldsOf(row), transaction },
      `a ${noun} is gone from its chain: it is open again and its receipt withdrawn`,
    )
    return lookAgain(reopened, silent)
  }

  /** The last settled one that was looked at: the next round goes on behind it, and with the oldest after the newest. */
  let seen: T | undefined

  /** As many as a round has time for; those of a silent chain take none of it, however many they are and however old. */
  async function lookAtAllSettled(silent: Set<string>): Promise<void> {
    let looked = 0
    for (let pages = 0; pages < MOST_PAGES; pages++) {
      const page = await book.listSettled({ after: seen, limit: BATCH })
      for (const row of page) {
        seen = row
        // Asked for each row: the one before may have found its chain silent just now.
        if (silent.has(toTransfer(row).network)) continue
        await alone(row, () => lookAtSettled(row, silent))
        if (++looked === BATCH) return
      }
      if (page.length < BATCH) {
        seen = undefined
        return
      }
    }
  }

  return {
    send: (row) => alone(row, () => submit(row)),
    async reconcile() {
      const before = now() - (engine === 'sqlite' ? 0 : LEASE_MS)
      const silent = new Set<string>()
      try {
        const open = await book.listOpen({ before, limit: BATCH })
        for (const row of open) await alone(row, () => lookAgain(row, silent))
        await lookAtAllSettled(silent)
      } catch (thrown) {
        onFault('upkeep_failed')
        log.error({ err: thrown }, `${noun}s could not be looked at`)
      }
    },
  }
}
