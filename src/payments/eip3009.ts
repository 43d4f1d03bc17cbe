// Computes what the payer of an EIP-3009 transfer signs: the EIP-712 digest of TransferWithAuthorization. The structure is
// fixed, so it is written into one buffer: verifying a payment computes it once, and must stay well below the signature.
import type { Eip3009Authorization } from './chain-ports.ts'
import type { PaymentNetwork } from '../core/networks.ts'

/**
 * keccak-256 of "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256
 * validBefore,bytes32 nonce)".
 */
export const TRANSFER_TYPE_HASH = '7c7c6cdb67a18743f49ec6fa9b35f50d52ed05cbed4cc592e13b44501c1a2267'
/** keccak-256 of "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)". */
const DOMAIN_TYPE_HASH = '8b73c3c69bb8fe3d512ecc4cf759cc79239f7b179b0ffacaa9a75d522b39400f'

const WORD = 32

export interface Eip3009Hasher {
  /** @returns 32 bytes */
  hash(network: PaymentNetwork, authorization: Eip3009Authorization): Uint8Array
}

/** @param keccak256 must not keep its bytes: the next payment overwrites them */
export function createEip3009Hasher(keccak256: (bytes: Uint8Array) => Uint8Array): Eip3009Hasher {
  const separators = new Map<PaymentNetwork, Uint8Array>()
  const struct = Buffer.alloc(7 * WORD)
  struct.write(TRANSFER_TYPE_HASH, 0, 'hex')
  const message = Buffer.alloc(2 + 2 * WORD)
  message.writeUInt16BE(0x1901)

  function separatorOf(network: PaymentNetwork): Uint8Array {
    let separator = separators.get(network)
    if (!separator) separators.set(network, (separator = hashDomain(network, keccak256)))
    return separator
  }
  return {
    hash(network, { from, to, value, validAfter, validBefore, nonce }) {
      struct.write(from.slice(2), 1 * WORD + 12, 'hex')
      struct.write(to.slice(2), 2 * WORD + 12, 'hex')
      writeUint256(struct, 3 * WORD, value)
      writeUint256(struct, 4 * WORD, validAfter)
      writeUint256(struct, 5 * WORD, validBefore)
      struct.write(nonce.slice(2), 6 * WORD, 'hex')
      message.set(separatorOf(network), 2)
      message.set(keccak256(struct), 2 + WORD)
      return keccak256(message)
    },
  }
}

/** EIP-712: the domain separator of the token as our pin has it, 32 bytes. */
export function hashDomain(
  { chainId, asset }: PaymentNetwork,
  keccak256: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  const domain = Buffer.alloc(5 * WORD)
  domain.write(DOMAIN_TYPE_HASH, 0, 'hex')
  domain.set(keccak256(Buffer.from(asset.name, 'utf8')), 1 * WORD)
  domain.set(keccak256(Buffer.from(asset.version, 'utf8')), 2 * WORD)
  writeUint256(domain, 3 * WORD, BigInt(chainId))
  domain.write(asset.address.slice(2), 4 * WORD + 12, 'hex')
  return keccak256(domain)
}

function writeUint256(target: Buffer, offset: number, value: bigint): void {
  for (let word = 3; word >= 0; word--) {
    target.writeBigUInt64BE(BigInt.asUintN(64, value), offset + 8 * word)
    value >>= 64n
  }
}
