// A buyer made of stock x402 packages: the client core and its EVM scheme, without any override.
import { x402Client } from '@x402/core/client'
import type { PaymentRequired } from '@x402/core/types'
import { ExactEvmScheme } from '@x402/evm/exact/client'
import type { PrivateKeyAccount } from 'viem/accounts'

/** @returns signs a payment for one of the offers of a challenge */
export function createBuyer(
  account: PrivateKeyAccount,
): (required: unknown) => Promise<Record<string, unknown>> {
  const client = new x402Client().register('eip155:*', new ExactEvmScheme(account))
  return async (required) => ({ ...(await client.createPaymentPayload(required as PaymentRequired)) })
}
