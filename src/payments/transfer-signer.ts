// Writes money that leaves as the payment that it is: an EIP-3009 transfer that an account of the operator signs for the recipient.
// Whoever submits it pays the gas, and its nonce is spent once, so that sending it again can never pay twice.
import { createECDH } from 'node:crypto'
import type { PaymentPayloadV2, PaymentRequirements } from '../../schemas/x402.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import { Secret } from '../lib/secret.ts'
import type { Millis } from '../store/model.ts'
import { createEip3009Hasher } from './eip3009.ts'
import type { Payment } from './ports.ts'
import { toRequirements } from './requirements.ts'
import { loadSecp256k1 } from './secp256k1.ts'

/** A transfer of the operator's money, as its row has it before anything is signed. */
export interface OutgoingTransfer {
  /** CAIP-2. */
  readonly network: string
  readonly asset: string
  /** Lower-case, as is the recipient. */
  readonly sender: string
  readonly recipient: string
  /** Atomic units as decimal text. */
  readonly amount: string
  readonly nonce: string
  /** From then on the transfer cannot happen any more: whole seconds. */
  readonly validBefore: Millis
  readonly createdAt: Millis
}

/** An account that transfers leave from. */
export interface TransferSigner {
  /** Lower-case. */
  readonly address: string
  /** RFC 6979: the same transfer has the same signature, which therefore needs no place on disk. */
  sign(transfer: OutgoingTransfer, network: PaymentNetwork): SignedTransfer
}

export interface SignedTransfer {
  readonly payment: Payment
  readonly requirements: PaymentRequirements
}

/** @param privateKey 0x and 64 hex digits */
export async function createTransferSigner(privateKey: Secret<string>): Promise<TransferSigner> {
  const { keccak256, sign } = await loadSecp256k1()
  const hasher = createEip3009Hasher(keccak256)
  const address = privateKey.use((key) => {
    const ecdh = createECDH('secp256k1')
    ecdh.setPrivateKey(key.slice(2), 'hex')
    const point = ecdh.getPublicKey().subarray(1)
    return `0x${Buffer.from(keccak256(point)).toString('hex').slice(-40)}`
  })
  return {
    address,
    sign({ amount, recipient, nonce, validBefore }, network) {
      const value = BigInt(amount)
      const requirements = toRequirements({ network, amountAtomic: value, payTo: recipient })
      const seconds = BigInt(Math.floor(validBefore / 1000))
      const authorization = {
        from: address,
        to: recipient,
        value,
        validAfter: 0n,
        validBefore: seconds,
        nonce,
      }
      const digest = hasher.hash(network, authorization)
      const signature = privateKey.use((key) => {
        const bytes = sign(digest, Buffer.from(key.slice(2), 'hex'))
        return `0x${Buffer.from(bytes).toString('hex')}`
      })
      const wire: PaymentPayloadV2 = {
        x402Version: 2,
        accepted: requirements,
        payload: {
          signature,
          authorization: {
            ...authorization,
            value: amount,
            validAfter: '0',
            validBefore: seconds.toString(),
          },
        },
      }
      const payment: Payment = {
        x402Version: 2,
        scheme: 'exact',
        network: network.network,
        accepted: requirements,
        resourceUrl: null,
        extensions: {},
        kind: { type: 'eip3009', authorization, signature: new Secret(signature) },
        payer: address,
        nonce,
        validBefore,
        presented: new Secret(wire),
        wire: new Secret(wire),
      }
      return { payment, requirements }
    },
  }
}
