// Pays settled payments back: the amount is bound on disk first, then one EIP-3009 transfer to the payer is sent, and the chain says
// what became of it. Who may refund is the tool's business; how much is left, the store's.
import { randomBytes } from 'node:crypto'
import type { z } from 'zod'
import type { Receipt } from '../../schemas/receipt.ts'
import type { OperatorRefund, RefundRecord } from '../../schemas/refund.ts'
import { GatewayError } from '../core/errors.ts'
import type { Networks, PaymentNetwork } from '../core/networks.ts'
import type { Fault } from '../lib/fault-points.ts'
import { newId } from '../lib/ids.ts'
import { LogField, type Logger } from '../lib/log.ts'
import type { Signer } from '../receipts/ports.ts'
import { toReceipt } from '../receipts/types.ts'
import type { PaymentClaim, Refund, Spend, Store, StoredReceipt } from '../store/ports.ts'
import type { Evidence, EvidenceReader, Transfer } from './chain-evidence.ts'
import { type Chain, ChainError, type Router, type UpstreamSettlement } from './ports.ts'
import { signRefundReceipt } from './receipt.ts'
import type { RefundSigner } from './refund-transfer.ts'
import * as refuse from './refund-refusals.ts'
import { refundedOf, toOperatorRefund, toRefundRecord } from './refund-wire.ts'
import { type Months, readMonths } from './spend.ts'

export interface RefundParts {
  readonly store: Store
  readonly networks: Networks
  /** By CAIP-2 id. */
  readonly chains: ReadonlyMap<string, Pick<Chain, 'balanceOf'>>
  readonly evidence: EvidenceReader
  readonly router: Pick<Router, 'routes'>
  readonly signer: Signer
  /** A stored receipt whose key was revoked is shown signed anew. */
  readonly renewReceipt: (receipt: StoredReceipt) => StoredReceipt
  readonly baseUrl: string
  /** Undefined without GATEWAY_REFUND_KEY_FILE: nothing is refunded then. */
  readonly account: RefundSigner | undefined
  readonly fault: Fault
  readonly now: () => number
  readonly log: Logger
}

export interface RefundRequest {
  readonly claimId: string
  /** Atomic units; undefined for all that is left. */
  readonly amount: string | undefined
  readonly reason: string
  /** The same reference of a claim is refunded once. */
  readonly reference: string
  /** Account of the operator's key. */
  readonly accountId: string
}

export interface Refunds {
  /**
   * Binds and sends; a refund that waits for its chain is answered as `submitted`, and housekeeping goes on with it.
   * @throws {GatewayError} payment_not_found; state_conflict where the payment or the refund account is not fit for it;
   * payments_unavailable where the chain does not answer: nothing was bound
   */
  refund(request: RefundRequest): Promise<{ readonly refund: Refund; readonly repeated: boolean }>
  /** Refunds of a claim, oldest first. */
  of(claimId: string): Promise<readonly Refund[]>
  /** What the operator is told of a refund, with its receipt. */
  show(refund: Refund): Promise<z.output<typeof OperatorRefund>>
  /** What the payer of a claim is told: what went back, and how each refund stands. */
  showPayer(claimId: string): Promise<{
    readonly refunded: bigint
    readonly refunds: readonly z.output<typeof RefundRecord>[]
  }>
  /**
   * What a payer spent here, newest month first.
   * @throws {GatewayError} input_invalid
   */
  spend(
    payer: string,
    asked: { readonly from?: string | undefined; readonly to?: string | undefined },
  ): Promise<Months & { readonly payer: string; readonly spend: readonly Spend[] }>
  /** Looks once at every open refund, and whether what settled lately still is. Never throws. */
  reconcile(): Promise<void>
}

/** So long a transfer may be sent, again and again; what is not in a block by then never is. */
const VALID_MS = 30 * 60_000
const UPSTREAM_MS = 20_000
/** Another replica may be sending: its upstream has twenty seconds. */
const LEASE_MS = 30_000
/** Ethereum calls a block final after thirteen minutes; the others that are pinned are faster. */
const REORG_WINDOW_MS = 15 * 60_000
const BATCH = 100
/** Open refunds that are counted against what the account holds. */
const MOST_OPEN = 1_000

export function createRefunds(parts: RefundParts): Refunds {
  const { store, networks, chains, evidence, router, account, baseUrl, fault, now, log } = parts
  /** Refunds that this process is working on. */
  const busy = new Set<string>()

  /** @throws {GatewayError} state_conflict */
  function networkOf({ network, asset, payer }: PaymentClaim): PaymentNetwork {
    const found = networks.find(network)
    if (!found || !chains.has(found.network) || found.asset.address.toLowerCase() !== asset || payer === '')
      throw refuse.notOurChain(network)
    return found
  }

  /** @throws {GatewayError} state_conflict, payments_unavailable */
  async function assertFunded({ address }: RefundSigner, network: PaymentNetwork, amount: bigint) {
    let held: bigint | undefined
    try {
      held = await chains.get(network.network)?.balanceOf(address)
    } catch (thrown) {
      if (!(thrown instanceof ChainError)) throw thrown
    }
    if (held === undefined) throw refuse.chainSilent(network.name)
    // What is on its way leaves the account too: a transfer that it does not cover would be reverted at the settlers' cost.
    const open = await store.listOpenRefunds({ before: Number.MAX_SAFE_INTEGER, limit: MOST_OPEN })
    const bound = sumOf(
      open.filter((refund) => refund.sender === address && refund.network === network.network),
    )
    if (held < bound + amount) throw refuse.poor(address, network, { held, bound, amount })
  }

  /** @throws {GatewayError} */
  async function record(request: RefundRequest): Promise<{ refund: Refund; repeated: boolean }> {
    const { claimId, amount, reason, reference, accountId } = request
    const claim = await store.getClaim(claimId)
    if (!claim) throw new GatewayError('payment_not_found', 'There is no such claim.')
    const refunds = await store.listRefunds(claimId)
    const before = refunds.find((refund) => refund.reference === reference)
    if (!account) {
      if (before && (amount === undefined || amount === before.amount))
        return { refund: before, repeated: true }
      throw refuse.noAccount()
    }
    if (claim.origin !== 'tool') throw refuse.notOurs(claim.payTo)
    const network = networkOf(claim)
    if (!before && claim.state === 'settled') {
      const left = BigInt(claim.amount) - sumOf(refunds)
      const asked = amount === undefined ? left : BigInt(amount)
      if (asked > 0n && asked <= left) await assertFunded(account, network, asked)
    }
    const createdAt = now()
    const recorded = await store.recordRefund({
      id: newId('rfd', createdAt),
      claimId,
      reference,
      accountId,
      reason,
      amount: amount ?? null,
      sender: account.address,
      nonce: `0x${randomBytes(32).toString('hex')}`,
      // Chains count in seconds: the row says what is signed.
      validBefore: Math.floor((createdAt + VALID_MS) / 1000) * 1000,
      createdAt,
    })
    if (!recorded.ok) throw refuse.unrecorded(recorded, claim)
    return recorded
  }

  const toTransfer = ({
    network,
    asset,
    sender,
    payer,
    amount,
    nonce,
    validBefore,
    createdAt,
  }: Refund): Transfer => ({
    network,
    asset,
    payer: sender,
    payTo: payer,
    amount,
    nonce,
    validBefore,
    createdAt,
  })

  /**
   * Sends it once, by the first upstream that takes it. A later round may choose another one, unlike with a buyer's payment:
   * nobody waits for an answer that could differ, and the nonce is spent once whoever submits it.
   * @returns the refund as it stands then
   */
  async function submit(refund: Refund): Promise<Refund> {
    const network = networks.find(refund.network)
    // A replaced key cannot sign for the account of before: the transfer expires, and is then refunded anew.
    if (!network || !account || account.address !== refund.sender) return refund
    const routes = await router.routes({ x402Version: 2, scheme: 'exact', network: refund.network })
    const sent = await store.submitRefund({ id: refund.id, tries: refund.tries, now: now() })
    if (!sent) return (await store.getRefund(refund.id)) ?? refund
    const signed = account.sign(sent, network)
    let answer: UpstreamSettlement = { state: 'refused', reason: 'no_route' }
    for (const { upstream } of routes) {
      answer = await upstream.settle({ ...signed, deadlineMs: UPSTREAM_MS })
      if (answer.state !== 'refused') break
    }
    if (answer.state === 'settled' && answer.isWitnessed && evidence.countsAtOnce(toTransfer(sent)))
      return settle(sent, answer.transaction)
    const found = await evidence.read(
      toTransfer(sent),
      'transaction' in answer ? answer.transaction : undefined,
    )
    if (found.state === 'unused' && answer.state === 'refused' && sent.tries === 1) {
      // Nothing of it has left, and nobody else has set out to send it: who has the signature forgets it here.
      const failed = await store.failRefund({ id: sent.id, failure: answer.reason, tries: 1, now: now() })
      if (failed) return failed
    }
    return conclude(sent, found)
  }

  /** Writes what the chain says. @returns the refund as it stands then */
  async function conclude(refund: Refund, found: Evidence): Promise<Refund> {
    if (found.state === 'paid') return settle(refund, found.transaction)
    if (found.state !== 'void') return (await store.getRefund(refund.id)) ?? refund
    const failed = await store.failRefund({ id: refund.id, failure: found.reason, now: now() })
    if (failed)
      log.warn(
        { [LogField.claim]: refund.claimId, refund: refund.id, reason: found.reason },
        'a refund failed',
      )
    return failed ?? (await store.getRefund(refund.id)) ?? refund
  }

  async function settle(refund: Refund, transaction: string): Promise<Refund> {
    const receipt = signRefundReceipt(parts, refund, transaction)
    const settled = await store.settleRefund({ id: refund.id, transaction, receipt, now: receipt.createdAt })
    return settled ?? (await store.getRefund(refund.id)) ?? refund
  }

  /** Runs work on a refund, unless this process is at it already. */
  async function alone(refund: Refund, work: () => Promise<Refund>): Promise<Refund> {
    if (busy.has(refund.id)) return refund
    busy.add(refund.id)
    try {
      return await work()
    } catch (thrown) {
      // It is on disk, and the next round goes on with it.
      log.error(
        { [LogField.claim]: refund.claimId, refund: refund.id, err: thrown },
        'a refund was interrupted',
      )
      return refund
    } finally {
      busy.delete(refund.id)
    }
  }

  async function lookAgain(refund: Refund): Promise<Refund> {
    await store.touchRefund(refund.id, now())
    const found = await evidence.read(toTransfer(refund))
    const isSendable = found.state === 'unused' && now() < refund.validBefore
    return isSendable ? submit(refund) : conclude(refund, found)
  }

  /** A settled refund whose chain replaced the block is sent again, or waits for its end. */
  async function lookAtSettled(refund: Refund): Promise<Refund> {
    const { transaction, receiptId } = refund
    const found = await evidence.read(toTransfer(refund), transaction ?? undefined)
    if (found.state !== 'unused' && found.state !== 'void') return refund
    const reopened = await store.reopenRefund({ id: refund.id, receiptId: receiptId ?? '', now: now() })
    if (!reopened) return refund
    log.warn(
      { [LogField.claim]: refund.claimId, refund: refund.id, transaction },
      'a refund is gone from its chain: it is open again and its receipt withdrawn',
    )
    return lookAgain(reopened)
  }

  async function receiptOf({ receiptId }: Refund): Promise<Receipt | null> {
    const stored = receiptId === null ? undefined : await store.getReceipt(receiptId)
    return stored ? toReceipt(baseUrl, parts.renewReceipt(stored)) : null
  }

  return {
    async refund(request) {
      const { refund, repeated } = await record(request)
      if (repeated) return { refund, repeated }
      await fault.at('after_refund_recorded')
      return { refund: await alone(refund, () => submit(refund)), repeated }
    },
    of: (claimId) => store.listRefunds(claimId),
    show: async (refund) => toOperatorRefund(refund, await receiptOf(refund)),
    async showPayer(claimId) {
      const refunds = await store.listRefunds(claimId)
      const shown = refunds.map(async (refund) => toRefundRecord(refund, await receiptOf(refund)))
      return { refunded: refundedOf(refunds), refunds: await Promise.all(shown) }
    },
    async spend(asked, months) {
      const { since, until, ...shown } = readMonths(months, now())
      // Addresses of other chains have capitals that count.
      const payer = /^0x/i.test(asked) ? asked.toLowerCase() : asked
      return { payer, ...shown, spend: await store.listSpend({ payer, since, until }) }
    },

    async reconcile() {
      const before = now() - (store.engine === 'sqlite' ? 0 : LEASE_MS)
      try {
        const open = await store.listOpenRefunds({ before, limit: BATCH })
        for (const refund of open) await alone(refund, () => lookAgain(refund))
        const settled = await store.listSettledRefunds({ since: now() - REORG_WINDOW_MS, limit: BATCH })
        for (const refund of settled) await alone(refund, () => lookAtSettled(refund))
      } catch (thrown) {
        log.error({ err: thrown }, 'refunds could not be looked at')
      }
    },
  }
}

const sumOf = (refunds: readonly Refund[]) =>
  refunds.reduce((sum, { state, amount }) => (state === 'failed' ? sum : sum + BigInt(amount)), 0n)
