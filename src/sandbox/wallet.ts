// Pays with the sandbox's test money for who tries something in a browser. It signs one thing: a transfer of little test money from the
// sandbox's payer to this gateway itself. What it signs is written from our own tables, never from what a stranger sent.
import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { PaymentPayloadV2, PaymentRequired } from '../../schemas/x402.ts'
import { GatewayError } from '../core/errors.ts'
import type { Networks } from '../core/networks.ts'
import type { Secret } from '../lib/secret.ts'
import { MAX_TIMEOUT_SECONDS, toRequirements } from '../payments/requirements.ts'
import { createTransferSigner, type TransferSigner } from '../payments/transfer-signer.ts'

export interface TestWallet {
  /**
   * Signs for the first way to pay that is ours.
   * @param required the challenge of a 402 of this gateway
   * @throws {GatewayError} payment_invalid where it asks for anything but little test money for this gateway
   */
  pay(required: PaymentRequired): Promise<PaymentPayloadV2>
}

interface WalletParts {
  readonly privateKey: Secret<string>
  /** The account of this gateway that is paid. */
  readonly payTo: string
  readonly networks: Pick<Networks, 'find'>
  /** Chains of the sandbox: elsewhere the payer has nothing, and a signature might be worth something. */
  readonly chainIds: readonly number[]
  /** Resources that are paid for are below it. */
  readonly baseUrl: string
  readonly now: () => number
}

/** Atomic USDC, as all amounts: 0.10 a payment. */
export const MAX_TEST_PAYMENT = 100_000n

/** @param parts.privateKey of the sandbox's payer; the curve is loaded with the first payment */
export function createTestWallet(parts: WalletParts): TestWallet {
  const { privateKey, payTo, networks, chainIds, baseUrl, now } = parts
  let signer: Promise<TransferSigner> | undefined

  /** The network of an offer that is exactly what this gateway would offer there. */
  function networkOf(offer: PaymentRequired['accepts'][number]) {
    const network = networks.find(offer.network)
    if (network?.network !== offer.network || !chainIds.includes(network.chainId)) return undefined
    const ours = toRequirements({ network, amountAtomic: BigInt(offer.amount), payTo })
    return isDeepStrictEqual(offer, ours) ? network : undefined
  }

  return {
    async pay({ resource, accepts, extensions }) {
      if (!resource.url.startsWith(`${baseUrl}/`))
        throw refusal('it pays for nothing but calls of this gateway', 'resource')
      const accepted = accepts.find((offer) => networkOf(offer))
      const network = accepted && networkOf(accepted)
      if (!accepted || !network)
        throw refusal('it pays this gateway alone, on the chains of the sandbox', 'requirements')
      if (BigInt(accepted.amount) > MAX_TEST_PAYMENT)
        throw refusal('it pays at most 0.10 USDC for one call', 'amount')
      const { address, sign } = await (signer ??= createTransferSigner(privateKey))
      const createdAt = now()
      const { payment } = sign(
        {
          network: network.network,
          asset: network.asset.address,
          sender: address,
          recipient: payTo,
          amount: accepted.amount,
          nonce: `0x${randomBytes(32).toString('hex')}`,
          validBefore: createdAt + MAX_TIMEOUT_SECONDS * 1000,
          createdAt,
        },
        network,
      )
      return payment.wire.use(({ payload }) => ({
        x402Version: 2,
        resource,
        accepted,
        payload,
        ...(extensions && { extensions }),
      }))
    },
  }
}

const refusal = (why: string, reason: string) =>
  new GatewayError(
    'payment_invalid',
    `The test wallet did not sign: ${why}. Pay with a wallet of your own.`,
    {
      reason,
    },
  )
