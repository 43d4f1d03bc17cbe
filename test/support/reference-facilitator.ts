// The protocol's own implementation (@x402/core and @x402/evm over viem), set up as its documentation says: the oracle
// that our verifier is compared with.
import { x402Facilitator } from '@x402/core/facilitator'
import type {
  PaymentPayload,
  PaymentRequirements,
  SettleResponse,
  SupportedResponse,
  VerifyResponse,
} from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, defineChain, type Hex, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

export interface ReferenceFacilitator {
  /** As `POST /verify` of a stock facilitator: whatever it throws is a no with the reason `threw`. */
  verify(payload: unknown, requirements: unknown): Promise<VerifyResponse>
  settle(payload: unknown, requirements: unknown): Promise<SettleResponse>
  supported(): SupportedResponse
}

export function createReferenceFacilitator(chain: {
  readonly chainId: number
  readonly rpcUrl: string
  readonly settlerKey: Hex
}): ReferenceFacilitator {
  const account = privateKeyToAccount(chain.settlerKey)
  const client = createWalletClient({
    account,
    chain: defineChain({
      id: chain.chainId,
      name: 'test',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [chain.rpcUrl] } },
    }),
    transport: http(chain.rpcUrl, { batch: true, retryCount: 0 }),
    // Of receipts; a test chain has them at once.
    pollingInterval: 50,
  }).extend(publicActions)
  const facilitator = registerExactEvmScheme(new x402Facilitator(), {
    // Its types want the client of one chain; any has what it calls.
    signer: toFacilitatorEvmSigner({ ...client, address: account.address } as never),
    networks: `eip155:${chain.chainId}`,
  })
  return {
    async verify(payload, requirements) {
      try {
        return await facilitator.verify(payload as PaymentPayload, requirements as PaymentRequirements)
      } catch (thrown) {
        return { isValid: false, invalidReason: 'threw', invalidMessage: String(thrown) }
      }
    },
    settle: (payload, requirements) =>
      facilitator.settle(payload as PaymentPayload, requirements as PaymentRequirements),
    supported: () => facilitator.getSupported() as SupportedResponse,
  }
}
