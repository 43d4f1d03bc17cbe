import { z } from 'zod'
import { Timestamp } from '../schemas/http.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellersRecover = defineTool({
  name: 'gateway.seller.recover',
  toolset: 'market',
  title: 'Recover a seller key',
  summary:
    'For sellers who lost their key, or whose key is in other hands: the payout account signs a sentence, every seller key ends, ' +
    'and a new one is shown once. Without a signature that fits, the refusal says which sentence to sign.',
  brief:
    'For a lost seller key: your payout account signs a sentence (the refusal says which) and a new key is shown once.',
  input: z.strictObject({
    seller: z.string().min(1).max(40).describe('Your seller id'),
    signed_at: Timestamp.describe('As in the sentence (RFC 3339)'),
    signature: z
      .string()
      .max(8194)
      .regex(/^0x[0-9a-fA-F]+$/)
      .describe('EIP-191 or ERC-1271'),
  }),
  output: z.strictObject({ key_id: z.string(), key: z.string().describe('Shown once') }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: {
    method: 'POST',
    path: '/v1/marketplace/sellers/recover',
    operationId: 'recoverSellerKey',
    status: 201,
  },
  errors: ['seller_not_found', 'sign_in_refused', 'payments_unavailable'],
  examples: [
    {
      title: 'A new key',
      input: { seller: 'acme-weather', signed_at: '2026-11-23T09:00:00.000Z', signature: '0x00' },
    },
  ],
  handle: async function marketplaceSellersRecover({ seller, signed_at, signature }, { sellers }) {
    const { keyId, token } = await sellers.recover(seller, { signedAt: Date.parse(signed_at), signature })
    return { key_id: keyId, key: token.use((text) => text) }
  },
})
