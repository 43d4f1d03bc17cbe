// What anybody can make of a mined payment: the authorization and its signature, read from the transaction.
import { decodeFunctionData, type Hex, parseAbi, serializeSignature } from 'viem'
import type { PaymentPayloadV1, PaymentPayloadV2, PaymentRequirements } from '../../schemas/x402.ts'
import type { ExactPayload, TestChain } from './chain.ts'

const ABI = parseAbi([
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, uint8 v, bytes32 r, bytes32 s)',
  'function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)',
])

/** @param transaction mined, or only seen on its way */
export async function readPayment(chain: TestChain, transaction: string): Promise<ExactPayload> {
  const found = (await chain.rpc('eth_getTransactionByHash', [transaction])) as { input: Hex }
  const { args } = decodeFunctionData({ abi: ABI, data: found.input })
  const [from, to, value, validAfter, validBefore, nonce] = args
  return {
    signature:
      args.length === 7 ? args[6] : serializeSignature({ v: BigInt(args[6]), r: args[7], s: args[8] }),
    authorization: {
      from,
      to,
      value: String(value),
      validAfter: String(validAfter),
      validBefore: String(validBefore),
      nonce,
    },
  }
}

export const asV1 = (payload: ExactPayload, network = 'base-sepolia'): PaymentPayloadV1 => ({
  x402Version: 1,
  scheme: 'exact',
  network,
  payload: { ...payload },
})

export const asV2 = (
  payload: ExactPayload,
  accepted: PaymentRequirements,
  more: Pick<PaymentPayloadV2, 'resource' | 'extensions'> = {},
): PaymentPayloadV2 => ({ x402Version: 2, ...more, accepted, payload: { ...payload } })
