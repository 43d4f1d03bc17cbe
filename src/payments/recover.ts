// Who signed a digest: secp256k1 recovery and keccak-256. Loaded on first use, and trusted only after a test of itself.
import { createRequire } from 'node:module'

export interface Recovery {
  readonly engine: 'native' | 'wasm'
  keccak256(bytes: Uint8Array): Uint8Array
  /**
   * @param digest 32 bytes
   * @param signature 65 bytes: r, s, v (27 or 28)
   * @returns lower-case address; undefined when no key made such a signature
   */
  recoverAddress(digest: Uint8Array, signature: Uint8Array): string | undefined
}

type Keccak256 = Recovery['keccak256']
/** @throws when there is no such point */
type RecoverPublicKey = (digest: Uint8Array, rs: Uint8Array, recoveryId: 0 | 1) => Uint8Array

/** A signature whose signer is known. */
const SELF_TEST = {
  text: 'agent-gateway: recovery self-test',
  signature:
    '6518c2c70ceedc33acc3aa50a54213fd878273bf7f17526e75cc2955e1aaabde6148775254794edadc610be2490e7c1eaf63198e3fbc16f768f07660099af5061b',
  address: '0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f',
}

let loading: Promise<Recovery> | undefined

/**
 * The fastest implementation that this machine has, once for the process.
 * @throws when none gives the known answer
 */
export function loadRecovery(): Promise<Recovery> {
  loading ??= load().catch((thrown: unknown) => {
    loading = undefined
    throw thrown
  })
  return loading
}

async function load(): Promise<Recovery> {
  const { engine } = await import('ox/wasm/Hash')
  const { keccak256 } = await engine()
  return loadNative(keccak256) ?? (await loadWasm(keccak256))
}

/** @returns undefined where the addon is missing or wrong */
export function loadNative(keccak256: Keccak256): Recovery | undefined {
  try {
    // Not the package's entry point: that one falls back to JavaScript, thirty times slower, and says nothing.
    const native = createRequire(import.meta.url)('secp256k1/bindings.js') as typeof import('secp256k1')
    return createRecovery('native', keccak256, (digest, rs, id) => native.ecdsaRecover(rs, id, digest, false))
  } catch {
    return undefined
  }
}

/** @throws when it does not give the known answer */
export async function loadWasm(keccak256: Keccak256): Promise<Recovery> {
  const { engine } = await import('ox/wasm/Secp256k1')
  const { recoverPublicKey } = await engine()
  const recoveryIdFirst = new Uint8Array(65)
  return createRecovery('wasm', keccak256, (digest, rs, id) => {
    recoveryIdFirst[0] = id
    recoveryIdFirst.set(rs, 1)
    return recoverPublicKey(recoveryIdFirst, digest)
  })
}

/** @throws when the implementation does not give the known answer */
export function createRecovery(
  engine: Recovery['engine'],
  keccak256: Keccak256,
  recoverPublicKey: RecoverPublicKey,
): Recovery {
  const recovery: Recovery = {
    engine,
    keccak256,
    recoverAddress(digest, signature) {
      const v = signature[64]
      if (digest.length !== 32 || signature.length !== 65 || (v !== 27 && v !== 28)) return undefined
      try {
        const key = recoverPublicKey(digest, signature.subarray(0, 64), v === 27 ? 0 : 1)
        return `0x${Buffer.from(keccak256(key.subarray(1))).toString('hex', 12)}`
      } catch {
        return undefined
      }
    },
  }
  // Both the digest and the address go through the hash, so one wrong byte of either is another signer.
  const digest = keccak256(Buffer.from(SELF_TEST.text))
  if (recovery.recoverAddress(digest, Buffer.from(SELF_TEST.signature, 'hex')) !== SELF_TEST.address)
    throw new Error(`The ${engine} implementation of secp256k1 fails its self-test`)
  return recovery
}
