// Writes a refund as the payment that it is: an EIP-3009 transfer that the operator's refund account signs for the payer. Whoever
// submits it pays the gas, and its nonce is spent once, so that sending it again can never pay twice.
import { createECDH } from 'node:crypto'
import type { PaymentPayloadV2, PaymentRequirements } from '../../schemas/x402.ts'
import type { PaymentNetwork } from '../core/networks.ts'
import { Secret } from '../lib/secret.ts'
import type { Refund } from '../store/ports.ts'
import { createEip3009Hasher } from './eip3009.ts'
import type { Payment } from './ports.ts'
import { toRequirements } from './requirements.ts'
import { loadSecp256k1 } from './secp256k1.ts'

/** The account that refunds leave from. */
export interface RefundSigner {
  /** Lower-case. */
  readonly address: string
  /** RFC 6979: the same refund has the same signature, which therefore needs no place on disk. */
  sign(refund: Refund, network: PaymentNetwork): SignedRefund
}

export interface SignedRefund {
  readonly payment: Payment
  readonly requirements: PaymentRequirements
}

/** @param privateKey 0x and 64 hex digits */
export async function createRefundSigner(privateKey: Secret<string>): Promise<RefundSigner> {
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
    sign(refund, network) {
      const { amount, payer, nonce, validBefore } = refund
      const value = BigInt(amount)
      const requirements = toRequirements({ network, amountAtomic: value, payTo: payer })
      const seconds = BigInt(Math.floor(validBefore / 1000))
      const authorization = { from: address, to: payer, value, validAfter: 0n, validBefore: seconds, nonce }
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
