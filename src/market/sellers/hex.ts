// Addresses and signatures as wallets write them.
import { loadSecp256k1 } from '../../payments/secp256k1.ts'

export const parseHex = (text: string): Buffer => Buffer.from(text.slice(2), 'hex')

/** 0x and whole bytes, at most so many. */
export const isHexString = (text: string, maxBytes: number): boolean =>
  text.length <= 2 + 2 * maxBytes && /^0x(?:[0-9a-fA-F]{2})+$/.test(text)

/** EIP-55: letters are capitals where the hash of the address says so. */
export async function toChecksum(address: string): Promise<string> {
  const { keccak256 } = await loadSecp256k1()
  const lower = address.slice(2).toLowerCase()
  const hash = Buffer.from(keccak256(Buffer.from(lower))).toString('hex')
  return `0x${[...lower].map((char, i) => (parseInt(hash.charAt(i), 16) >= 8 ? char.toUpperCase() : char)).join('')}`
}
