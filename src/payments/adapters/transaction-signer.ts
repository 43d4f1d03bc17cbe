// Signs the transactions (EIP-1559) of one account. The key is read for the length of one signature.
import type { Hex } from 'ox/Hex'
import type { Secret } from '../../lib/secret.ts'
import { loadSecp256k1 } from '../secp256k1.ts'
import type { Fees } from './fees.ts'

/** What a transaction does, without the nonce and the fees under which it leaves. */
export interface Call {
  readonly to: string
  readonly data: string
  /** The most gas that it may burn. */
  readonly gas: bigint
}

export interface SignedTransaction {
  /** As a node takes it. */
  readonly raw: string
  /** Its hash, known before it leaves. */
  readonly transaction: string
}

export interface TransactionSigner {
  /** Checksummed. */
  readonly address: string
  sign(call: Call, nonce: bigint, fees: Fees): SignedTransaction
}

const bytesOf = (hex: string) => Buffer.from(hex.slice(2), 'hex')
const hexOf = (bytes: Uint8Array): Hex => `0x${Buffer.from(bytes).toString('hex')}`

/** @throws when the key is no private key */
export async function openTransactionSigner(
  key: Secret<string>,
  chainId: number,
): Promise<TransactionSigner> {
  const [Address, Secp256k1, TxEnvelope, curve] = await Promise.all([
    import('ox/Address'),
    import('ox/Secp256k1'),
    import('ox/TxEnvelopeEip1559'),
    loadSecp256k1(),
  ])
  const address = key.use((privateKey) =>
    Address.fromPublicKey(Secp256k1.getPublicKey({ privateKey: privateKey as Hex })),
  )
  const hashOf = (serialized: Hex) => curve.keccak256(bytesOf(serialized))

  function signDigest(digest: Uint8Array) {
    const signed = Buffer.from(
      key.use((privateKey) => {
        const secret = bytesOf(privateKey)
        try {
          return curve.sign(digest, secret)
        } finally {
          // Node cuts short buffers from a slab that others see.
          secret.fill(0)
        }
      }),
    )
    return {
      r: hexOf(signed.subarray(0, 32)),
      s: hexOf(signed.subarray(32, 64)),
      yParity: signed.readUInt8(64) - 27,
    }
  }

  return {
    address: Address.checksum(address),
    sign({ to, data, gas }, nonce, fees) {
      const envelope = TxEnvelope.from({
        chainId,
        nonce,
        to: to as Hex,
        data: data as Hex,
        gas,
        ...fees,
      })
      const signature = signDigest(hashOf(TxEnvelope.serialize(envelope)))
      const raw = TxEnvelope.serialize(envelope, { signature })
      return { raw, transaction: hexOf(hashOf(raw)) }
    },
  }
}
