import { z } from 'zod'
import { OwnHost, OwnListing, OwnSeller } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellerState = defineTool({
  name: 'gateway.seller',
  toolset: 'market',
  title: 'Your state as a seller',
  summary:
    'Your seller, your hosts with what each has to show, and your services with their states and reasons.',
  input: z.strictObject({}),
  output: z.strictObject({ seller: OwnSeller, hosts: z.array(OwnHost), services: z.array(OwnListing) }),
  price: free,
  caller: 'seller',
  effects: { readOnly: true, idempotent: true, openWorld: false },
  rest: { method: 'GET', path: '/v1/marketplace/seller', operationId: 'getOwnSeller' },
  errors: ['seller_not_found'],
  examples: [{ title: 'Everything', input: {} }],
  handle: async function marketplaceSellerState(_input, { sellers, caller }) {
    const { listings, ...state } = await sellers.state(caller)
    return { ...state, services: listings }
  },
})
