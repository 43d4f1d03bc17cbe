// Simulates a transfer by authorization under the very gas limit that its transaction will have: what could not be settled is
// refused before any work is done for it. Verification and settlement both go through here, so that there is one rule.
import type { Secret } from '../../lib/secret.ts'
import type { Eip3009Authorization } from '../chain-ports.ts'
import type { RpcCall, RpcReply } from './json-rpc.ts'
import { packTransfer, readRevert } from './usdc-abi.ts'

/**
 * The most gas that one settlement burns where the operator sets nothing else. A transfer of a plain account needs 60 to 90
 * thousand; the rest is for the signature check of a contract wallet, which must not burn more of the operator's.
 */
export const SETTLEMENT_GAS = 120_000n
/** The limit under which a transfer is simulated where somebody else pays for the gas, and to tell why one fails under ours. */
export const GENEROUS_GAS = 1_000_000n

export interface Transfer {
  /** Of the token. */
  readonly asset: string
  readonly authorization: Eip3009Authorization
  readonly signature: Secret<string>
  /** Who will submit it: a wallet's code may look. */
  readonly from?: string | undefined
}

export type Simulated =
  | { readonly state: 'passes' }
  /** @property reason the token's words */
  | { readonly state: 'reverts'; readonly reason: string }
  | { readonly state: 'exceeds_gas' }
  /** The node did not run it: that says nothing about the payment. */
  | { readonly state: 'unanswered' }

/** The question whether the transfer would go through within so much gas. */
export const simulationOf = ({ asset, authorization, signature, from }: Transfer, gas: bigint): RpcCall => ({
  method: 'eth_call',
  params: [
    {
      to: asset,
      data: packTransfer(authorization, signature),
      gas: `0x${gas.toString(16)}`,
      ...(from !== undefined && { from }),
    },
    'latest',
  ],
})

/** The words of geth, reth, erigon, nethermind, besu and anvil where the limit was too low for the call itself. */
const GAS_SHORT = /out ?of ?gas|OOG\b|intrinsic.?gas|gas required exceeds|floor data gas/i

/** @param reply to {@link simulationOf} */
export function readSimulation(reply: RpcReply | undefined): Simulated {
  if (!reply) return { state: 'unanswered' }
  if (reply.ok) return { state: 'passes' }
  const reason = readRevert(reply)
  if (reason !== undefined && !/out ?of ?gas/i.test(reason)) return { state: 'reverts', reason }
  return GAS_SHORT.test(reply.message) ? { state: 'exceeds_gas' } : { state: 'unanswered' }
}

/**
 * Tells a transfer that fails from one that needs more gas: where a wallet's own check runs out of gas, the token says that the
 * signature is wrong.
 * @param limited what came out under the limit
 * @param generous the same under {@link GENEROUS_GAS}
 */
export function explainFailure(limited: Simulated, generous: Simulated): Simulated {
  if (limited.state === 'unanswered') return limited
  if (generous.state === 'passes') return { state: 'exceeds_gas' }
  // Of a wallet that burns whatever it is given the token says what is wrong with it.
  return generous.state === 'reverts' ? generous : limited
}

/** The refusal in words. */
export const exceedsGasWords = (gas: bigint): string =>
  `The transfer needs more than the ${gas} gas that one settlement may burn here: the check of this wallet's signature costs too ` +
  `much. Pay from an account with a cheaper check, such as a plain one.`
