// Peer of the web fetch benchmark: one settlement as the protocol's own facilitator makes it (@x402/core and @x402/evm over
// viem).
import { setTimeout } from 'node:timers/promises'
import { x402Facilitator } from '@x402/core/facilitator'
import type { PaymentPayload, PaymentRequirements } from '@x402/core/types'
import { toFacilitatorEvmSigner } from '@x402/evm'
import { registerExactEvmScheme } from '@x402/evm/exact/facilitator'
import { createWalletClient, defineChain, type Hex, http, publicActions } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'

const POLL_MS = 2

export function createReferenceSettler(chain: { chainId: number; rpcUrl: string; settlerKey: Hex }) {
  const account = privateKeyToAccount(chain.settlerKey)
  const client = createWalletClient({
    account,
    chain: defineChain({
      id: chain.chainId,
      name: 'bench',
      nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
      rpcUrls: { default: { http: [chain.rpcUrl] } },
    }),
    transport: http(chain.rpcUrl, { batch: true, retryCount: 0 }),
  }).extend(publicActions)
  // viem looks for a receipt once a block, and on a chain that mines on demand there may be no other block.
  async function waitForTransactionReceipt({ hash }: { hash: Hex }) {
    for (;;) {
      const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined)
      if (receipt) return receipt
      await setTimeout(POLL_MS)
    }
  }
  const signer = { ...client, address: account.address, waitForTransactionReceipt }
  const facilitator = registerExactEvmScheme(new x402Facilitator(), {
    // Its types want the client of one chain; any has what it calls.
    signer: toFacilitatorEvmSigner(signer as never),
    networks: `eip155:${chain.chainId}`,
  })
  return async (payload: unknown, requirements: unknown): Promise<void> => {
    const settled = await facilitator.settle(payload as PaymentPayload, requirements as PaymentRequirements)
    if (!settled.success) throw new Error(`reference settle: ${JSON.stringify(settled)}`)
  }
}
