import { z } from 'zod'
import { OwnershipProofs, OwnSeller, sellerFields } from '../schemas/market-seller.ts'
import { free } from '../src/core/price.ts'
import { defineTool } from './services.ts'

export const marketplaceSellerEdit = defineTool({
  name: 'gateway.seller.edit',
  toolset: 'market',
  title: 'Change what is said of you',
  summary:
    'Changes your name, description, contact, webhook or payout address. Money of proven hosts goes to another address only when each ' +
    'of them shows a challenge for it and the new account has signed: the refusal says what to publish.',
  brief:
    'Changes what is said of you. Another payout address needs a challenge at each proven host, and its signature.',
  input: z.strictObject({
    name: sellerFields.name.optional(),
    description: sellerFields.description.optional(),
    payout_address: sellerFields.payout_address.optional(),
    contact: sellerFields.contact.optional(),
    webhook_url: sellerFields.webhook_url.optional(),
    ownership_proofs: OwnershipProofs.optional(),
  }),
  output: OwnSeller,
  price: free,
  caller: 'seller',
  effects: { readOnly: false, destructive: false, idempotent: false, openWorld: true },
  rest: { method: 'POST', path: '/v1/marketplace/seller', operationId: 'editOwnSeller' },
  errors: ['seller_not_found', 'state_conflict'],
  examples: [
    { title: 'Another description', input: { description: 'Weather of every airport, from the airports.' } },
  ],
  handle: function marketplaceSellerEdit(edit, { sellers, caller }) {
    return sellers.edit(caller, edit)
  },
})
