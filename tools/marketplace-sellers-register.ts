import { z } from 'zod'
import { NewSellerId, OwnSeller, sellerFields } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellersRegister = defineTool({
  name: 'gateway.marketplace.sellers.register',
  toolset: 'market',
  title: 'Register as a seller',
  summary:
    'Makes you a seller of the marketplace: an account without credits and a key that opens only what is below ' +
    '/v1/marketplace/seller. The key is shown once. With an operator key, its own account becomes the seller. Then prove a host.',
  brief: 'Makes you a seller; the key is shown once. Then prove a host.',
  input: z.strictObject({
    seller: NewSellerId,
    ...sellerFields,
    description: sellerFields.description.default(''),
    contact: sellerFields.contact.default(null).meta({ listed: false }),
    webhook_url: sellerFields.webhook_url.default(null),
  }),
  output: OwnSeller.extend({
    key: z
      .string()
      .nullable()
      .describe('Your seller key (agw_sk_…), shown once; null where the account has keys of its own'),
    next: z.string(),
  }),
  price: free,
  caller: 'anyone',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/v1/marketplace/sellers', operationId: 'registerSeller', status: 201 },
  errors: ['state_conflict', 'rate_limited'],
  examples: [
    {
      title: 'A seller',
      input: {
        seller: 'acme-weather',
        name: 'Acme Weather',
        payout_address: '0x00000000000000000000000000000000000acade',
      },
    },
  ],
  handle: async function marketplaceSellersRegister(input, { sellers, caller }) {
    const { seller, key } = await sellers.register(input, {
      accountId: caller.kind === 'operator' ? caller.accountId : undefined,
      address: caller.address,
    })
    return {
      ...seller,
      key: key?.use((text) => text) ?? null,
      next:
        'Send this key as Authorization: Bearer. POST /v1/marketplace/seller/hosts (over MCP gateway_seller_host, over A2A the skill ' +
        'seller-host) with the origin of your API says how you prove that it is yours.',
    }
  },
})
