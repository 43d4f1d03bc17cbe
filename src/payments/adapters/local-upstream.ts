// The facilitator in this process: it settles EIP-3009 and Permit2 payments with accounts of the operator, and says of every
// settlement whether anything may have left, because that decides whether another facilitator may try.
import type { SupportedKind } from '../../../schemas/x402.ts'
import { within } from '../../lib/deadline.ts'
import type { Fault } from '../../lib/fault-points.ts'
import type { Secret } from '../../lib/secret.ts'
import type { Payment, Upstream, UpstreamRequest, UpstreamSettlement, Verdict } from '../ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import { type ChainRpc, createChainRpc } from './chain-rpc.ts'
import { createFees, type Fees } from './fees.ts'
import { receiptOf } from './authorization-status.ts'
import { createSdkScheme, type SdkScheme } from './sdk-scheme.ts'
import { type Broadcast, openSettler, type Settler } from './settler.ts'
import {
  countTransfers,
  findTransfer,
  packTransfer,
  readQuantity,
  readReceipt,
  readRevert,
  type Receipt,
} from './usdc-abi.ts'

export interface LocalUpstreamOptions {
  readonly chains: readonly { readonly network: PaymentNetwork; readonly rpcUrl: () => Promise<string> }[]
  /** Private keys (0x and 64 hex digits) of the accounts that submit; asked at first use. */
  readonly settlerKeys: () => Promise<readonly Secret<string>[]>
  /** `before_broadcast`, `after_broadcast`, `after_mined`. */
  readonly fault: Fault
  readonly now: () => number
}

interface LocalChain {
  readonly network: PaymentNetwork
  readonly rpc: ChainRpc
  readonly permit2: SdkScheme
  readonly fees: ReturnType<typeof createFees>
  /** The accounts are opened at first use, and again after a failure. */
  settlers(): Promise<readonly Settler[]>
}

/** A transfer by authorization needs 60 to 90 thousand. The payer's wallet code must not burn more of ours. */
const TRANSFER_GAS = 120_000n
/** A transfer through Permit2 runs two contracts more. */
const PERMIT2_GAS = 250_000n
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
  const { settlerKeys, fault, now } = options
  const chains = new Map(
    options.chains.map(({ network, rpcUrl }) => {
      const rpc = createChainRpc({ network, rpcUrl, now })
      const open = async () =>
        Promise.all((await settlerKeys()).map((key) => openSettler({ key, network, rpc, now })))
      const chain: LocalChain = {
        network,
        rpc,
        permit2: createSdkScheme({ network, rpc }),
        fees: createFees({ network, rpc, now }),
        settlers: openOnce(open),
      }
      return [network.network, chain]
    }),
  )

  async function isAlive({ rpc }: LocalChain): Promise<boolean> {
    try {
      const [reply] = await rpc.ask([{ method: 'eth_blockNumber', params: [] }])
      return reply?.ok === true
    } catch {
      return false
    }
  }

  /** Settlements that run, by account. */
  const running = new Map<Settler, number>()
  const count = (settler: Settler, change: 1 | -1) =>
    running.set(settler, (running.get(settler) ?? 0) + change)
  const load = (settler: Settler) => (running.get(settler) ?? 0) + settler.unmined()

  /** Picks the account that has least to do, of those that are not stuck; it counts as busy from here on. */
  async function choose(chain: LocalChain): Promise<Settler | undefined> {
    const settlers = await chain.settlers()
    const stuck = settlers.filter((settler) => settler.isStuck())
    const reviews = Promise.allSettled(stuck.map((settler) => settler.review()))
    if (stuck.length === settlers.length) await reviews
    const [chosen] = settlers.filter((settler) => !settler.isStuck()).sort((a, b) => load(a) - load(b))
    if (chosen) count(chosen, 1)
    return chosen
  }

  /**
   * The receipt, or undefined when there is none by `deadline` (of performance.now). A node that does not answer is asked
   * again.
   */
  async function awaitReceipt(
    { rpc, network }: LocalChain,
    transaction: string,
    deadline: number,
  ): Promise<Seen | undefined> {
    const started = performance.now()
    for (;;) {
      const [id, reply] = await rpc.ask([CHAIN_ID, receiptOf(transaction)]).catch(() => [])
      const receipt = reply?.ok ? readReceipt(reply.result) : undefined
      if (receipt) {
        const isOfChain = id?.ok === true && readQuantity(id.result) === BigInt(network.chainId)
        return { receipt, isWitness: isOfChain && receipt.transaction === transaction.toLowerCase() }
      }
      const pause = pauseAfter(performance.now() - started)
      if (performance.now() + pause >= deadline) return undefined
      if (pause > 0) await new Promise((resolve) => setTimeout(resolve, pause))
    }
  }

  async function submit(
    chain: LocalChain,
    settler: Settler,
    request: UpstreamRequest,
  ): Promise<UpstreamSettlement> {
    if (request.payment.kind.type === 'foreign') return refuse('unsupported_scheme')
    const deadline = performance.now() + request.deadlineMs
    const doomed = findDoom(chain, request.payment)
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
    const broadcast = await send(chain, settler, request, fees)
    if (broadcast.state === 'refused') return refuse(broadcast.reason)
    const { transaction } = broadcast
    try {
      await fault.at('after_broadcast')
      const seen = await awaitReceipt(chain, transaction, patience(broadcast, deadline))
      if (!seen) return unmined(broadcast)
      settler.forget(transaction)
      await fault.at('after_mined')
      return conclude(seen, request.payment, hasMoved(chain, request, seen.receipt))
    } catch {
      return { state: 'unknown', reason: 'fault_injected', transaction }
    }
  }

  const patience = (broadcast: Broadcast, deadline: number) =>
    broadcast.state === 'doubtful' && broadcast.reason !== 'already_known'
      ? Math.min(deadline, performance.now() + DOUBT_MS)
      : deadline

  return {
    id: 'local',
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
      const addresses = await Promise.all(
        live.map(async (chain) => (await chain.settlers()).map(({ address }) => address)),
      )
      return {
        kinds: live.flatMap(({ network }) => kindsOf(network)),
        extensions: [],
        signers: { 'eip155:*': [...new Set(addresses.flat())] },
      }
    },
    async verify(request) {
      const chain = chains.get(request.payment.network)
      if (!chain) return UNSUPPORTED
      return request.payment.kind.type === 'permit2'
        ? chain.permit2.verify(request.payment, request.requirements)
        : simulate(chain, request.payment)
    },
    prepare({ network }) {
      const chain = chains.get(network)
      void chain?.settlers().catch(ignore)
      void chain?.fees().catch(ignore)
    },
    async settle(request) {
      const chain = chains.get(request.payment.network)
      if (!chain) return refuse('invalid_network')
      let settler: Settler | undefined
      try {
        settler = await choose(chain)
      } catch {
        return refuse('no_settler')
      }
      if (!settler) return refuse('settlers_stuck')
      try {
        return await submit(chain, settler, request)
      } finally {
        count(settler, -1)
      }
    },
    async close() {
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
const CHAIN_ID = { method: 'eth_chainId', params: [] }

const refuse = (reason: string): UpstreamSettlement => ({ state: 'refused', reason })

function unmined(broadcast: Exclude<Broadcast, { state: 'refused' }>): UpstreamSettlement {
  const { transaction } = broadcast
  return broadcast.state === 'sent'
    ? { state: 'pending', transaction }
    : { state: 'unknown', reason: broadcast.reason, transaction }
}

function conclude({ receipt, isWitness }: Seen, { kind }: Payment, transferred: boolean): UpstreamSettlement {
  const { succeeded, transaction } = receipt
  if (!succeeded) return { state: 'failed', reason: 'invalid_exact_evm_transaction_failed' }
  if (!transferred) return { state: 'failed', reason: 'invalid_exact_evm_transfer_event_mismatch' }
  const isWitnessed = isWitness && kind.type === 'eip3009'
  return { state: 'settled', transaction, ...(isWitnessed && { isWitnessed }) }
}

const kindsOf = ({ network, v1Name }: PaymentNetwork): SupportedKind[] => [
  { x402Version: 2, scheme: 'exact', network },
  ...(v1Name === undefined ? [] : [{ x402Version: 1, scheme: 'exact', network: v1Name }]),
]

const UNSUPPORTED: Verdict = {
  ok: false,
  check: 'scheme',
  reason: 'unsupported_scheme',
  message: 'This facilitator settles EIP-3009 and Permit2 payments of the exact scheme: pay with one.',
  isRetryable: false,
}

async function send(
  { network, permit2 }: LocalChain,
  settler: Settler,
  { payment, requirements }: UpstreamRequest,
  fees: Fees,
): Promise<Broadcast> {
  const { kind } = payment
  if (kind.type === 'eip3009') {
    const data = packTransfer(kind.authorization, kind.signature)
    return settler.broadcast({ to: network.asset.address, data, gas: TRANSFER_GAS, fees })
  }
  return permit2.send(payment, requirements, {
    address: settler.address,
    broadcast: (to, data) => settler.broadcast({ to, data, gas: PERMIT2_GAS, fees }),
  })
}

function hasMoved(
  { network }: LocalChain,
  { payment, requirements }: UpstreamRequest,
  { logs }: Receipt,
): boolean {
  const { address } = network.asset
  if (payment.kind.type === 'eip3009')
    return findTransfer(logs, address, payment.kind.authorization).transferred
  const wanted = { from: payment.payer, to: requirements.payTo, value: BigInt(requirements.amount) }
  return countTransfers(logs, address, wanted) === 1
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
  const data = packTransfer(kind.authorization, kind.signature)
  const call = { method: 'eth_call', params: [{ to: chain.network.asset.address, data }, 'latest'] }
  const [reply] = await chain.rpc.ask([call]).catch(() => [undefined])
  if (reply?.ok) return { ok: true, payer }
  const revert = reply && readRevert(reply)
  return revert === undefined
    ? {
        ok: false,
        check: 'simulation',
        reason: 'unexpected_verify_error',
        message: 'The chain did not answer: try again.',
        payer,
        isRetryable: true,
      }
    : {
        ok: false,
        check: 'simulation',
        reason: EXCEEDS_BALANCE.test(revert)
          ? 'invalid_exact_evm_insufficient_balance'
          : 'invalid_exact_evm_transaction_simulation_failed',
        message: `The token refuses the transfer: ${revert}.`,
        payer,
        isRetryable: false,
      }
}

/** Opens once for all who ask; a failure is not kept. */
function openOnce<T>(open: () => Promise<T>): () => Promise<T> {
  let opened: Promise<T> | undefined
  return () => {
    opened ??= open().catch((thrown: unknown) => {
      opened = undefined
      throw thrown
    })
    return opened
  }
}
