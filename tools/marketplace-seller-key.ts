import { z } from 'zod'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellerKey = defineTool({
  name: 'gateway.seller.key',
  toolset: 'market',
  title: 'Replace your seller key',
  summary:
    'Makes a new seller key and ends every other one of your seller at once. Keys of an operator stay. The key is shown once.',
  input: z.strictObject({}),
  output: z.strictObject({ key_id: z.string(), key: z.string().describe('Shown once') }),
  price: free,
  caller: 'seller',
  isForPeople: true,
  effects: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  rest: { method: 'POST', path: '/v1/marketplace/seller/key', operationId: 'replaceSellerKey', status: 201 },
  errors: ['seller_not_found'],
  examples: [{ title: 'A new key', input: {} }],
  handle: async function marketplaceSellerKey(_input, { sellers, caller }) {
    const { keyId, token } = await sellers.replaceKey(caller)
    return { key_id: keyId, key: token.use((text) => text) }
  },
})
