// Addresses that money is sent to, by their form alone: what is none, what nobody can spend from, and what a typing error made.
import { hasGoodChecksum } from '../lib/eip55.ts'

const EVM = /^0x[\da-f]{40}$/i
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/** An EVM whose accounts have a name of their own besides, `shard.realm.num` (MPP draft-hedera-charge-00). */
const HEDERA: ReadonlySet<string> = new Set(['eip155:295', 'eip155:296'])

/** Whether the addresses of a network have a form that is known, and this is none. Network as CAIP-2; null where it is not known. */
export function isAddressMalformed(address: string, network: string | null): boolean {
  if (network?.startsWith('eip155:'))
    return !EVM.test(address) && !(HEDERA.has(network) && /^\d{1,10}\.\d{1,10}\.\d{1,19}$/.test(address))
  if (network?.startsWith('solana:')) return !isSolanaAddress(address)
  return address.length === 0
}

/** Base58 of 32 bytes. */
function isSolanaAddress(address: string): boolean {
  if (!/^[1-9A-HJ-NP-Za-km-z]{32,44}$/.test(address)) return false
  let value = 0n
  for (const char of address) value = value * 58n + BigInt(BASE58.indexOf(char))
  const zeros = /^1*/.exec(address)?.[0].length ?? 0
  return zeros + Math.ceil(value.toString(2).length / 8) - (value === 0n ? 1 : 0) === 32
}

/** Capitals of an EVM address are its checksum (EIP-55); one in a single case has none. */
export const hasWrongChecksum = (address: string): boolean => EVM.test(address) && !hasGoodChecksum(address)

const BURNED = new Set([
  '0x000000000000000000000000000000000000dead',
  '0xdead000000000000000042069420694206942069',
  '0xffffffffffffffffffffffffffffffffffffffff',
  '11111111111111111111111111111111',
  '1nc1nerator11111111111111111111111111111111',
])

/** Zero, the precompiled contracts behind it, and the addresses that are used to burn. */
export const isBurned = (address: string): boolean =>
  /^0x0{36}[\da-f]{4}$/i.test(address) || BURNED.has(EVM.test(address) ? address.toLowerCase() : address)
