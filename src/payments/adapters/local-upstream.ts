// The in-process facilitator: settles EIP-3009 payments with accounts of the operator.
import type { Fault } from '../../fault.ts'
import type { Secret } from '../../secret.ts'
import type { PaymentNetwork, Upstream } from '../ports.ts'
import { stub } from '../stub.ts'

export interface LocalUpstreamOptions {
  readonly chains: readonly { readonly network: PaymentNetwork; readonly rpcUrl: () => Promise<string> }[]
  /** Private keys (0x and 64 hex digits) of the accounts that submit; asked at first use. */
  readonly settlerKeys: () => Promise<readonly Secret<string>[]>
  /** `before_broadcast`, `after_broadcast`, `after_mined`. */
  readonly fault: Fault
  readonly now: () => number
}

export function createLocalUpstream(_options: LocalUpstreamOptions): Upstream {
  return stub('createLocalUpstream')
}
