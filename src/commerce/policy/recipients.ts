// Recipients at which money is lost, whatever a policy allows: no address, nobody's address, the token's own contract, a mistyped one.
import { hasWrongChecksum, isAddressMalformed, isBurned } from '../addresses.ts'
import { isSameAddress } from '../compare.ts'
import type { Found } from '../ports.ts'
import { KNOWN_STABLECOINS, toAddress, toNetwork } from './assets.ts'
import { PERMIT2_PROXIES } from '../x402/spender.ts'
import { reason, type Reason } from './reasons.ts'

export interface Payee {
  readonly payee: Found<string>
  readonly payer: Found<string> | null
  readonly asset: Found<string> | null
  readonly network: Found<string> | null
}

/** What is wrong with a recipient by itself; the worst alone. Empty where nothing is, or its network has no form that is known. */
export function judgePayee({ payee, payer, asset, network }: Payee): Reason[] {
  const { value, at } = payee
  const caip2 = network === null ? null : toNetwork(network.value)
  if (isBurned(value)) return [reason('RECIPIENT_ZERO', at)]
  if (isAddressMalformed(value, caip2)) return [reason('RECIPIENT_MALFORMED', at)]
  if (!/^(?:eip155|solana):/.test(caip2 ?? '')) return []
  if ((asset !== null && isSameAddress(asset.value, value)) || CONTRACTS.has(toAddress(value)))
    return [reason('RECIPIENT_TOKEN', at)]
  // Wallets of several standards name themselves by CAIP-10 or a DID, which end with the address.
  const from = payer?.value.split(':').at(-1)
  if (from !== undefined && isSameAddress(from, value)) return [reason('RECIPIENT_PAYER', at)]
  return hasWrongChecksum(value) ? [reason('RECIPIENT_CHECKSUM', at)] : []
}

/** Contracts that keep what is sent to them for good, on whichever chain: tokens are deployed at one address on several. */
const CONTRACTS: ReadonlySet<string> = new Set([
  ...KNOWN_STABLECOINS.map(({ asset }) => toAddress(asset)),
  '0x000000000022d473030f116ddee9f6b43ac78ba3', // Permit2
  ...[...PERMIT2_PROXIES.values()].map(toAddress),
])
