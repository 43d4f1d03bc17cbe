// JSON-RPC to one EVM chain.
import type { Chain, PaymentNetwork } from '../ports.ts'
import { stub } from '../stub.ts'

export interface ChainOptions {
  readonly network: PaymentNetwork
  /** Asked at first use: a sandbox chain starts then. */
  readonly rpcUrl: () => Promise<string>
  readonly now: () => number
}

export function createChain(_options: ChainOptions): Chain {
  return stub('createChain')
}
