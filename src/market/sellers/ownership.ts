// Whether the payout account signed an origin: x402scan's ownership proof, which is the text `https://api.example.com` under EIP-191.
// Where the account is a contract, the contract is asked (ERC-1271). The signature moves no money and binds the host to an address:
// shown by somebody else it pays that address and nobody else.
import { isHexString, parseHex } from './hex.ts'
import { type Chain, ChainError } from '../../payments/chain-ports.ts'
import { loadSecp256k1 } from '../../payments/secp256k1.ts'

export type OwnershipVerdict =
  | { readonly ok: true; readonly kind: 'eip191' | 'erc1271'; readonly signature: string }
  /** `unknown`: the chain did not answer. */
  | { readonly ok: false; readonly reason: 'none' | 'other_signer' | 'unknown' }

const MAX_PROOFS = 16
const MAX_SIGNATURE_BYTES = 4096

/** EIP-191 version 0x45. */
export async function originDigest(origin: string): Promise<Uint8Array> {
  const { keccak256 } = await loadSecp256k1()
  const message = Buffer.from(origin)
  return keccak256(Buffer.concat([Buffer.from(`\u0019Ethereum Signed Message:\n${message.length}`), message]))
}

/**
 * Whether one of the signatures is the account's.
 * @param account lower-case address
 * @param chain where the account would be a contract; undefined where none is known
 */
export async function verifyOwnership(
  origin: string,
  account: string,
  proofs: readonly string[],
  chain: Pick<Chain, 'acceptsSignature'> | undefined,
): Promise<OwnershipVerdict> {
  const usable = proofs.slice(0, MAX_PROOFS).filter((proof) => isHexString(proof, MAX_SIGNATURE_BYTES))
  if (usable.length === 0) return { ok: false, reason: 'none' }
  const { recoverAddress } = await loadSecp256k1()
  const digest = await originDigest(origin)
  for (const signature of usable)
    if (recoverAddress(digest, withV27(parseHex(signature))) === account)
      return { ok: true, kind: 'eip191', signature: signature.toLowerCase() }
  if (!chain) return { ok: false, reason: 'other_signer' }
  try {
    for (const signature of usable)
      if (await chain.acceptsSignature({ account, digest, signature: parseHex(signature) }))
        return { ok: true, kind: 'erc1271', signature: signature.toLowerCase() }
  } catch (thrown) {
    if (!(thrown instanceof ChainError)) throw thrown
    return { ok: false, reason: 'unknown' }
  }
  return { ok: false, reason: 'other_signer' }
}

/** Some wallets count the recovery id from 0. */
function withV27(signature: Buffer): Buffer {
  const v = signature[64]
  if (signature.length !== 65 || (v !== 0 && v !== 1)) return signature
  return Buffer.concat([signature.subarray(0, 64), Buffer.of(27 + v)])
}
