// Decides what a transaction offers for gas: enough for the next blocks, never more than the operator would want to pay.
import { isObject } from '../../lib/json.ts'
import { ChainError } from '../chain-ports.ts'
import type { PaymentNetwork } from '../../core/networks.ts'
import type { ChainRpc } from './chain-rpc.ts'
import { readQuantity } from './usdc-abi.ts'
import { isFresh } from '../../lib/fresh.ts'

export interface Fees {
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
}

const GWEI = 1_000_000_000n
/** Ten times what these chains ask on a bad day. Above it a settlement is refused, not overpaid. */
const CAPS: Readonly<Record<number, bigint>> = {
  1: 200n * GWEI,
  137: 2_000n * GWEI,
  43114: 500n * GWEI,
}
const CAP = 10n * GWEI
const DEFAULT_TIP = 1_000_000n
const KEPT_MS = 2_000

/**
 * The most that a transaction may offer for one unit of gas on this chain, in wei.
 * @param configured the operator's own bounds, by chain id
 */
export const maxFeePerGasOf = (
  { chainId }: PaymentNetwork,
  configured: Readonly<Record<number, bigint>> = {},
): bigint => configured[chainId] ?? CAPS[chainId] ?? CAP

/**
 * @returns reads the fees of the next blocks, at most every two seconds; undefined when gas costs more than the cap
 * @throws {ChainError} from what it returns
 */
export function createFees(options: {
  network: PaymentNetwork
  rpc: Pick<ChainRpc, 'ask'>
  now: () => number
  /** In wei, see {@link maxFeePerGasOf}. */
  maxFeePerGas: bigint
}): () => Promise<Fees | undefined> {
  const { network, rpc, now, maxFeePerGas: cap } = options
  let kept: { at: number; fees: Promise<Fees | undefined> } | undefined

  async function ask(): Promise<Fees | undefined> {
    const [block, tip] = await rpc.ask([
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
      { method: 'eth_maxPriorityFeePerGas', params: [] },
    ])
    const base = block?.ok && isObject(block.result) ? readQuantity(block.result['baseFeePerGas']) : undefined
    if (base === undefined) throw new ChainError('malformed', network.network)
    // Not every node knows eth_maxPriorityFeePerGas.
    const asked = (tip?.ok && readQuantity(tip.result)) || DEFAULT_TIP
    if (base + DEFAULT_TIP > cap) return undefined
    const maxFeePerGas = min(base * 2n + asked, cap)
    return { maxFeePerGas, maxPriorityFeePerGas: min(asked, maxFeePerGas - base) }
  }

  return () => {
    if (kept && isFresh(kept.at, now(), KEPT_MS)) return kept.fees
    const fees = ask()
    kept = { at: now(), fees }
    fees.catch(() => (kept = undefined))
    return fees
  }
}

const min = (a: bigint, b: bigint) => (a < b ? a : b)
