// The facilitator in this process: it settles EIP-3009 payments with accounts of the operator, and says of every settlement
// whether anything may have left, because that decides whether another facilitator may try.
import type { SupportedKind } from '../../../schemas/x402.ts'
import { within } from '../../lib/deadline.ts'
import type { Fault } from '../../lib/fault-points.ts'
import type { Logger } from '../../lib/log.ts'
import type { Secret } from '../../lib/secret.ts'
import { ChainError } from '../chain-ports.ts'
import type { Payment, Upstream, UpstreamRequest, UpstreamSettlement, Verdict } from '../ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import { LOCAL, REVERTED } from '../decision-table.ts'
import { inclusionSeconds } from '../inclusion.ts'
import { receiptOf } from './authorization-status.ts'
import { type ChainRpc, createChainRpc } from './chain-rpc.ts'
import { createFees, maxFeePerGasOf } from './fees.ts'
import type { Broadcast } from './settler.ts'
import { createSettlerPool, type PoolBroadcast, type SettlerPool } from './settler-pool.ts'
import {
  exceedsGasWords,
  explainFailure,
  GENEROUS_GAS,
  readSimulation,
  SETTLEMENT_GAS,
  simulationOf,
} from './transfer-simulation.ts'
import { findTransfer, packTransfer, readQuantity, readReceipt, type Receipt } from './usdc-abi.ts'

export interface LocalUpstreamOptions {
  readonly chains: readonly { readonly network: PaymentNetwork; readonly rpcUrl: () => Promise<string> }[]
  /** Private keys (0x and 64 hex digits) of the accounts that submit; asked at first use. */
  readonly settlerKeys: () => Promise<readonly Secret<string>[]>
  /** `before_broadcast`, `after_broadcast`, `after_mined`. */
  readonly fault: Fault
  /** Wei that a settlement offers at most for one unit of gas, by chain id. */
  readonly maxFees?: Readonly<Record<number, bigint>> | undefined
  /** The most gas that one settlement burns, see {@link SETTLEMENT_GAS}. */
  readonly settlementGas?: bigint | undefined
  readonly now: () => number
  readonly log?: Pick<Logger, 'warn'> | undefined
}

interface LocalChain {
  readonly network: PaymentNetwork
  /** The most gas that one settlement burns. */
  readonly gas: bigint
  readonly rpc: ChainRpc
  readonly fees: ReturnType<typeof createFees>
  readonly settlers: SettlerPool
}

/** A transaction of a doubtful broadcast shows soon if the node has it; after this time the chain's log decides. */
const DOUBT_MS = 2_000
/** Pauses between questions for a receipt, by what has passed: some nodes mine at once, others take seconds. */
const PAUSES_MS = [
  { untilMs: 2, pauseMs: 0 },
  { untilMs: 10, pauseMs: 1 },
  { untilMs: 50, pauseMs: 2 },
  { untilMs: 200, pauseMs: 10 },
  { untilMs: 2_000, pauseMs: 40 },
] as const
const LONGEST_PAUSE_MS = 250
const pauseAfter = (elapsedMs: number) =>
  PAUSES_MS.find(({ untilMs }) => elapsedMs < untilMs)?.pauseMs ?? LONGEST_PAUSE_MS

/** @param options.settlerKeys is asked at the first settlement, or when somebody asks what is supported */
export function createLocalUpstream(options: LocalUpstreamOptions): Upstream {
  const { settlerKeys, maxFees, fault, now, log } = options
  const gas = options.settlementGas ?? SETTLEMENT_GAS
  const chains = new Map(
    options.chains.map(({ network, rpcUrl }) => {
      const rpc = createChainRpc({ network, rpcUrl, now })
      const maxFeePerGas = maxFeePerGasOf(network, maxFees)
      const fees = createFees({ network, rpc, now, maxFeePerGas })
      const settlers = createSettlerPool({
        keys: settlerKeys,
        network,
        rpc,
        fees,
        maxFeePerGas,
        gas,
        now,
        log,
      })
      const chain: LocalChain = { network, gas, rpc, fees, settlers }
      return [network.network, chain]
    }),
  )

  /**
   * A chain on which no account can pay for gas, or whose gas costs more than the operator pays, is not offered: the work would
   * be done, and the payment refused after it.
   */
  async function isAlive({ rpc, settlers, fees }: LocalChain): Promise<boolean> {
    try {
      const [[reply], canPay, asked] = await Promise.all([
        rpc.ask([{ method: 'eth_blockNumber', params: [] }]),
        settlers.canPay(),
        fees(),
      ])
      return reply?.ok === true && canPay && asked !== undefined
    } catch {
      return false
    }
  }

  /**
   * The receipt, or undefined when there is none by `deadline` (of performance.now). A node that does not answer is asked
   * again.
   */
  async function awaitReceipt(
    { rpc, network }: LocalChain,
    hashes: PoolBroadcast['hashes'],
    deadline: number,
  ): Promise<Seen | undefined> {
    const started = performance.now()
    for (;;) {
      // It may have been replaced by one that offers more, and the older ones may be mined all the same.
      const asked = hashes()
      const [id, ...replies] = await rpc.ask([CHAIN_ID, ...asked.map(receiptOf)]).catch(() => [])
      for (const [i, reply] of replies.entries()) {
        const receipt = reply.ok ? readReceipt(reply.result) : undefined
        if (!receipt) continue
        const isOfChain = id?.ok === true && readQuantity(id.result) === BigInt(network.chainId)
        return { receipt, isWitness: isOfChain && receipt.transaction === asked[i]?.toLowerCase() }
      }
      const pause = pauseAfter(performance.now() - started)
      if (performance.now() + pause >= deadline) return undefined
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  /**
   * Whether its block would come after the authorization ends: it would be reverted there, at the operator's cost. A simulation does
   * not tell, whose time is that of the block before.
   */
  const isTooLate = ({ network, validBefore }: Payment): boolean =>
    validBefore !== null && validBefore - now() < inclusionSeconds(network) * 1000

  async function submit(chain: LocalChain, request: UpstreamRequest): Promise<UpstreamSettlement> {
    const { payment } = request
    const { kind } = payment
    if (kind.type !== 'eip3009') return refuse('unsupported_scheme')
    const deadline = performance.now() + request.deadlineMs
    if (isTooLate(payment)) return refuse(TOO_LATE)
    const doomed = findDoom(chain, payment)
    const hindrance = await chain.settlers.findHindrance().catch(() => 'no_settler')
    if (hindrance !== undefined) return refuse(hindrance)
    // The first question may have been asked while the work was done, and a node that was away then may be back: ask again.
    const fees = await chain
      .fees()
      .catch(() => chain.fees())
      .catch(() => null)
    if (fees === null) return refuse('chain_unreachable')
    if (fees === undefined) return refuse('gas_price_above_cap')
    const doom = await doomed
    if (doom !== undefined) return refuse(doom)
    try {
      await fault.at('before_broadcast')
    } catch {
      return refuse('fault_injected')
    }
    const readyAt = performance.now()
    const outgoing = {
      to: chain.network.asset.address,
      data: packTransfer(kind.authorization, kind.signature),
      gas,
      fees,
      isWanted: async () => !isTooLate(payment) && isWanted(chain, payment),
      findLateness() {
        if (isTooLate(payment)) return TOO_LATE
        const hasQueued = performance.now() - readyAt > QUEUED_MS
        return hasQueued && performance.now() >= deadline ? 'settlers_busy' : undefined
      },
    }
    const broadcast = await chain.settlers.broadcast(outgoing, deadline)
    if (broadcast.state === 'refused') return refuse(broadcast.reason)
    const { transaction } = broadcast
    let seen: Seen | undefined
    try {
      await fault.at('after_broadcast')
      seen = await awaitReceipt(chain, broadcast.hashes, patience(broadcast, deadline))
      if (!seen) return unmined(broadcast)
      await fault.at('after_mined')
      return conclude(seen, hasMoved(chain, kind, seen.receipt))
    } catch {
      return { state: 'unknown', reason: 'fault_injected', transaction }
    } finally {
      broadcast.end(seen !== undefined)
    }
  }

  const patience = (broadcast: Broadcast, deadline: number) =>
    broadcast.state === 'doubtful' && broadcast.reason !== 'already_known'
      ? Math.min(deadline, performance.now() + DOUBT_MS)
      : deadline

  return {
    id: LOCAL,
    url: null,
    // Gas is the operator's: it is no part of what a seller is charged here.
    feeAtomic: 0n,
    async supported(deadlineMs) {
      const alive = await Promise.all(
        [...chains.values()].map(async (chain) =>
          (await within(deadlineMs, isAlive(chain))) === true ? chain : undefined,
        ),
      )
      const live = alive.filter((chain) => chain !== undefined)
      if (live.length === 0) throw new Error('no chain answers')
      const addresses = await Promise.all(live.map(({ settlers }) => settlers.addresses()))
      return {
        kinds: live.flatMap(({ network }) => kindsOf(network)),
        extensions: [],
        signers: { 'eip155:*': [...new Set(addresses.flat())] },
      }
    },
    async verify(request) {
      const chain = chains.get(request.payment.network)
      if (!chain) return UNSUPPORTED
      return simulate(chain, request.payment)
    },
    prepare({ network }) {
      const chain = chains.get(network)
      chain?.settlers.prepare()
      void chain?.fees().catch(ignore)
    },
    async settle(request) {
      const chain = chains.get(request.payment.network)
      if (!chain) return refuse('invalid_network')
      return submit(chain, request)
    },
    isBusy: (network) => chains.get(network)?.settlers.isBusy() === true,
    settlers: () => [...chains.values()].flatMap(({ settlers }) => settlers.states()),
    async close() {
      await Promise.all([...chains.values()].map(({ settlers }) => settlers.close()))
      await Promise.all([...chains.values()].map(({ rpc }) => rpc.close()))
    },
  }
}

/**
 * A receipt; a witness where it is of the very transaction, from a node that said in the same request which chain it is of.
 */
interface Seen {
  readonly receipt: Receipt
  readonly isWitness: boolean
}

const ignore = () => undefined
/** What has its turn sooner met no queue, and leaves also where the questions before it took all of its time. */
const QUEUED_MS = 2_000
const TOO_LATE = 'invalid_exact_evm_payload_authorization_valid_before'
const CHAIN_ID = { method: 'eth_chainId', params: [] }

const refuse = (reason: string): UpstreamSettlement => ({ state: 'refused', reason })

function unmined(broadcast: Exclude<Broadcast, { state: 'refused' }>): UpstreamSettlement {
  const { transaction } = broadcast
  return broadcast.state === 'sent'
    ? { state: 'pending', transaction }
    : { state: 'unknown', reason: broadcast.reason, transaction }
}

function conclude({ receipt, isWitness }: Seen, transferred: boolean): UpstreamSettlement {
  const { succeeded, transaction } = receipt
  if (!succeeded) return { state: 'failed', reason: REVERTED }
  if (!transferred) return { state: 'failed', reason: 'invalid_exact_evm_transfer_event_mismatch' }
  return { state: 'settled', transaction, ...(isWitness && { isWitnessed: isWitness, block: receipt.block }) }
}

const kindsOf = ({ network, v1Name }: PaymentNetwork): SupportedKind[] => [
  { x402Version: 2, scheme: 'exact', network },
  ...(v1Name === undefined ? [] : [{ x402Version: 1, scheme: 'exact', network: v1Name }]),
]

const UNSUPPORTED: Verdict = {
  ok: false,
  check: 'scheme',
  reason: 'unsupported_scheme',
  message: 'This facilitator settles EIP-3009 payments of the exact scheme: pay with one.',
  isRetryable: false,
}

type Eip3009Kind = Extract<Payment['kind'], { type: 'eip3009' }>

const hasMoved = ({ network }: LocalChain, { authorization }: Eip3009Kind, { logs }: Receipt): boolean =>
  findTransfer(logs, network.asset.address, authorization).transferred

/** Whether the transfer would still go through. @throws {ChainError} when the chain does not answer */
async function isWanted(chain: LocalChain, payment: Payment): Promise<boolean> {
  const verdict = await simulate(chain, payment)
  if (!verdict.ok && verdict.isRetryable) throw new ChainError('refused', chain.network.network)
  return verdict.ok
}

/**
 * Why the transfer would be reverted by now, at the operator's cost: since it was verified the payer may have emptied its account
 * or used the authorization. Undefined where it would succeed, and where the node does not say: then the broadcast decides.
 */
async function findDoom(chain: LocalChain, payment: Payment): Promise<string | undefined> {
  if (payment.kind.type !== 'eip3009') return undefined
  const verdict = await simulate(chain, payment)
  return verdict.ok || verdict.isRetryable ? undefined : verdict.reason
}

/** The words of the token where the payer does not hold what it signed for. */
const EXCEEDS_BALANCE = /exceeds balance/i

/** Asks the token itself, which checks the signature (also of a wallet that is a contract), the nonce and the balance. */
async function simulate(chain: LocalChain, { kind, payer }: Payment): Promise<Verdict> {
  if (kind.type !== 'eip3009') return UNSUPPORTED
  const { network, gas, rpc, settlers } = chain
  const [from] = await settlers.addresses().catch(() => [])
  const transfer = { asset: network.asset.address, ...kind, from }
  const ask = async (limit: bigint) => {
    const [reply] = await rpc.ask([simulationOf(transfer, limit)]).catch(() => [undefined])
    return readSimulation(reply)
  }
  const limited = await ask(gas)
  if (limited.state === 'passes') return { ok: true, payer }
  const failure = limited.state === 'unanswered' ? limited : explainFailure(limited, await ask(GENEROUS_GAS))
  if (failure.state === 'unanswered')
    return {
      ok: false,
      check: 'simulation',
      reason: 'unexpected_verify_error',
      message: 'The chain did not answer: try again.',
      payer,
      isRetryable: true,
    }
  const isPoor = failure.state === 'reverts' && EXCEEDS_BALANCE.test(failure.reason)
  return {
    ok: false,
    check: 'simulation',
    reason: isPoor
      ? 'invalid_exact_evm_insufficient_balance'
      : 'invalid_exact_evm_transaction_simulation_failed',
    message:
      failure.state === 'reverts'
        ? `The token refuses the transfer: ${failure.reason}.`
        : exceedsGasWords(gas),
    payer,
    isRetryable: false,
  }
}
