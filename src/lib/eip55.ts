// The checksum of an address of an EVM (EIP-55).
import { keccak_256 } from '@noble/hashes/sha3'

/**
 * Whether the capitals of an address are its checksum. An address in one case makes no claim, and passes.
 * @param address 0x and 40 hex digits
 */
export function hasGoodChecksum(
  address: string,
  keccak256: (bytes: Uint8Array) => Uint8Array = keccak_256,
): boolean {
  const digits = address.slice(2)
  const lower = digits.toLowerCase()
  if (digits === lower || digits === digits.toUpperCase()) return true
  const hash = Buffer.from(keccak256(Buffer.from(lower, 'ascii'))).toString('hex')
  const checksum = [...lower].map((digit, i) => (hash.charAt(i) >= '8' ? digit.toUpperCase() : digit))
  return digits === checksum.join('')
}
