import { z } from 'zod'
import { listingFields, OwnHost } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceHostsClaim = defineTool({
  name: 'gateway.seller.host',
  toolset: 'market',
  title: 'Say that a host is yours',
  summary:
    'Answers with the challenge that the host has to show, as a DNS TXT record or a file, and the text that your payout account signs. ' +
    'Asking again gives the same challenge.',
  brief:
    'The challenge that a host of yours has to show (DNS TXT or file), and the text that your payout account signs.',
  input: z.strictObject({ origin: listingFields.origin }),
  output: OwnHost,
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  rest: { method: 'POST', path: '/v1/marketplace/seller/hosts', operationId: 'claimSellerHost' },
  errors: ['seller_not_found', 'state_conflict', 'target_blocked'],
  examples: [{ title: 'What to publish', input: { origin: 'https://api.acme-weather.com' } }],
  handle: function marketplaceHostsClaim({ origin }, { sellers, caller }) {
    return sellers.claimHost(caller, origin)
  },
})
