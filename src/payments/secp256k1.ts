// The curve and the hash of EVM chains, native where the machine has them: ecrecover (who signed a digest), signatures of
// our own, and keccak-256. They are loaded on first use, and trusted only after a test of themselves.
import { createRequire } from 'node:module'
import { must } from '../lib/must.ts'

export interface Secp256k1 {
  readonly engine: 'native' | 'wasm'
  keccak256(bytes: Uint8Array): Uint8Array
  /**
   * @param digest 32 bytes
   * @param signature 65 bytes: r, s, v (27 or 28)
   * @returns lower-case address; undefined when no key made such a signature
   */
  recoverAddress(digest: Uint8Array, signature: Uint8Array): string | undefined
  /**
   * RFC 6979, with s in the lower half: the same key and digest, the same signature.
   * @param digest 32 bytes
   * @param privateKey 32 bytes
   * @returns 65 bytes: r, s, v (27 or 28)
   * @throws when it is no private key
   */
  sign(digest: Uint8Array, privateKey: Uint8Array): Uint8Array
}

type Keccak256 = Secp256k1['keccak256']
interface Curve {
  /** @throws when there is no such point */
  readonly recoverPublicKey: (digest: Uint8Array, rs: Uint8Array, recoveryId: 0 | 1) => Uint8Array
  /** @throws when it is no private key */
  readonly sign: (digest: Uint8Array, privateKey: Uint8Array) => { rs: Uint8Array; recoveryId: number }
}

/** A signature whose signer is known, and the signature that the digest itself makes when it is used as a key. */
const SELF_TEST = {
  text: 'agent-gateway: recovery self-test',
  signature:
    '6518c2c70ceedc33acc3aa50a54213fd878273bf7f17526e75cc2955e1aaabde6148775254794edadc610be2490e7c1eaf63198e3fbc16f768f07660099af5061b',
  address: '0x9d8a62f656a8d1615c1294fd71e9cfb3e4855a4f',
  signed:
    'b2a7b63abfd87ea352465d721c86c23d5bf56bbc34fc952068a57a9d90a8c18a51dfb4ec52f7e15e58d3a8f215f496ec0d58d82ee6db87a79212856160f8096d1b',
}

let loading: Promise<Secp256k1> | undefined

/**
 * The fastest implementation that this machine has, once for the process.
 * @throws when none gives the known answer
 */
export function loadSecp256k1(): Promise<Secp256k1> {
  loading ??= load().catch((thrown: unknown) => {
    loading = undefined
    throw thrown
  })
  return loading
}

async function load(): Promise<Secp256k1> {
  const { engine } = await import('ox/wasm/Hash')
  const { keccak256 } = await engine()
  return loadNative(keccak256) ?? (await loadWasm(keccak256))
}

/** @returns undefined where the addon is missing or made for another machine */
export function loadAddon(): typeof import('secp256k1') | undefined {
  try {
    // The package's entry point falls back to JavaScript, thirty times slower, and says nothing; so the addon itself is
    // loaded.
    return createRequire(import.meta.url)('secp256k1/bindings.js') as typeof import('secp256k1')
  } catch {
    return undefined
  }
}

/** @returns undefined where the addon is missing or wrong */
export function loadNative(keccak256: Keccak256): Secp256k1 | undefined {
  const native = loadAddon()
  if (!native) return undefined
  try {
    return createSecp256k1('native', keccak256, {
      recoverPublicKey: (digest, rs, id) => native.ecdsaRecover(rs, id, digest, false),
      sign(digest, privateKey) {
        const { signature, recid } = native.ecdsaSign(digest, privateKey)
        return { rs: signature, recoveryId: recid }
      },
    })
  } catch {
    return undefined
  }
}

/** @throws when it does not give the known answer */
export async function loadWasm(keccak256: Keccak256): Promise<Secp256k1> {
  const { engine } = await import('ox/wasm/Secp256k1')
  const { recoverPublicKey, sign } = await engine()
  const recoveryIdFirst = new Uint8Array(65)
  return createSecp256k1('wasm', keccak256, {
    recoverPublicKey(digest, rs, id) {
      recoveryIdFirst[0] = id
      recoveryIdFirst.set(rs, 1)
      return recoverPublicKey(recoveryIdFirst, digest)
    },
    sign(digest, privateKey) {
      const signed = sign(digest, privateKey, { extraEntropy: false, prehash: false })
      return { rs: signed.subarray(1), recoveryId: must(signed[0], 'the recovery id of a signature') }
    },
  })
}

/** @throws when the implementation does not give the known answer */
export function createSecp256k1(engine: Secp256k1['engine'], keccak256: Keccak256, curve: Curve): Secp256k1 {
  const secp256k1: Secp256k1 = {
    engine,
    keccak256,
    recoverAddress(digest, signature) {
      const v = signature[64]
      if (digest.length !== 32 || signature.length !== 65 || (v !== 27 && v !== 28)) return undefined
      try {
        const key = curve.recoverPublicKey(digest, signature.subarray(0, 64), v === 27 ? 0 : 1)
        return `0x${Buffer.from(keccak256(key.subarray(1))).toString('hex', 12)}`
      } catch {
        return undefined
      }
    },
    sign(digest, privateKey) {
      const { rs, recoveryId } = curve.sign(digest, privateKey)
      const signature = new Uint8Array(65)
      signature.set(rs)
      signature[64] = 27 + recoveryId
      return signature
    },
  }
  // Both the digest and the address go through the hash, so one wrong byte of either is another signer.
  const digest = keccak256(Buffer.from(SELF_TEST.text))
  const signer = secp256k1.recoverAddress(digest, Buffer.from(SELF_TEST.signature, 'hex'))
  const signed = Buffer.from(secp256k1.sign(digest, digest)).toString('hex')
  if (signer !== SELF_TEST.address || signed !== SELF_TEST.signed)
    throw new Error(`The ${engine} implementation of secp256k1 fails its self-test`)
  return secp256k1
}
